// SPDX-License-Identifier: Apache-2.0
// Packed instructions on a hart by itself, with a range of memory and without time, for their tests.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include "packed_lone.hpp"

namespace polyloom::minion {
namespace {

namespace nb = nanobind;
using namespace nb::literals;

template <class T, int N>
using Array = nb::ndarray<T, nb::ndim<N>, nb::c_contig, nb::device::cpu>;

// Executes all words in order, until a trap; registers and memory are changed in place. Gives the cause as mcause has
// it, or -1, how many were executed, the value of the trap, fcsr and gsc_progress.
nb::tuple run(nb::bytes words, Array<uint32_t, 2> f, Array<uint8_t, 1> m, Array<uint64_t, 1> x, uint64_t fcsr,
              unsigned progress, Array<uint8_t, 1> memory, uint64_t base, bool graphics) {
    if (f.size() != 256 || m.size() != 8 || x.size() != 32 || memory.size() < 8)
        throw nb::value_error("registers are 32 * 8 words, 8 masks and 32 integers; memory has 8 bytes or more");
    packed::Surroundings around;
    HartState& state = around.state;
    around.shire.minion_feature = graphics ? 0 : packed::NO_GRAPHICS;
    state.gsc_progress = uint8_t(progress & 7);
    std::copy_n(m.data(), 8, state.m.begin());
    packed::LoneHart lone(around, reinterpret_cast<const uint8_t*>(words.c_str()), words.size(),
                          riscv::Span(base, memory.size(), memory.data()));
    riscv::Hart<Lone>& hart = lone.hart;
    std::copy_n(x.data(), 32, hart.x);
    std::memcpy(hart.f, f.data(), 1024);
    hart.flags = flags_kept(fcsr), hart.rounding = fcsr >> 5 & 7;
    const riscv::Outcome done = hart.run(0, words.size(), 1000000);
    std::copy_n(hart.x, 32, x.data());
    std::memcpy(f.data(), hart.f, 1024);
    std::copy_n(state.m.begin(), 8, m.data());
    const int cause = done.cause == riscv::Cause::stop ? -1 : int(riscv::exception_number(done.cause));
    return nb::make_tuple(cause, done.executed, done.value, flags_seen(hart.flags) | uint32_t(hart.rounding) << 5,
                          state.gsc_progress);
}

}  // namespace
}  // namespace polyloom::minion

void bind_packed(nanobind::module_& module) {
    using namespace nanobind::literals;
    module.def("packed", polyloom::minion::run, "words"_a, "f"_a, "m"_a, "x"_a, "fcsr"_a, "progress"_a, "memory"_a,
               "base"_a, "graphics"_a = true);
}
