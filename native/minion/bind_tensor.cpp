// SPDX-License-Identifier: Apache-2.0
// Tensor operations on their own, for tests: on many tiles in one call, which NumPy holds. Arrays are written in place;
// flags come back, one word for each tile.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <tuple>
#include <vector>

#include "minion/tensor.hpp"

namespace nb = nanobind;
using namespace polyloom::minion::tensor;

namespace {

template <class T, int64_t... SHAPE>
using Array = nb::ndarray<T, nb::shape<SHAPE...>, nb::c_contig, nb::device::cpu>;
// -1 is any extent: the number of tiles, or of what the name says.
using Registers = Array<uint32_t, -1, 32, 8>;
using Lines = Array<uint8_t, -1, SCP_LINES, LINE>;
using Sums = Array<uint32_t, -1, 16, 16>;
using B = Array<uint8_t, -1, 16, LINE>;
using Masks = Array<const uint16_t, -1>;
using Flags = Array<uint32_t, -1>;
using Vectors = Array<uint32_t, -1, 8>;

static_assert(sizeof(Register) == 32);

Tile tile(const Registers& f, const Lines& scp, size_t n) {
    return {reinterpret_cast<Register*>(f.data()) + 32 * n, scp.data() + n * SCP_LINES * LINE, nullptr, nullptr};
}

void check(bool fine) {
    if (!fine) throw nb::value_error("arrays of as many tiles each, and rounding modes from 0 to 4");
}

void tensor_multiply(uint64_t word, const Masks& masks, int mode, const Registers& f, const Lines& scp,
                     const Sums& tenc, const B& tenb, const Flags& flags) {
    const size_t count = f.shape(0);
    const Fma operation = fma(word);
    check(operation.legal() && mode >= 0 && mode <= 4 && scp.shape(0) == count && tenc.shape(0) == count &&
          tenb.shape(0) == count && masks.shape(0) == count && flags.shape(0) == count);
    for (size_t n = 0; n < count; ++n) {
        Tile each = tile(f, scp, n);
        each.tenc = tenc.data() + 256 * n, each.tenb = tenb.data() + 16 * LINE * n;
        multiply(operation, each, masks.data()[n], mode, flags.data()[n]);
    }
}

void tensor_quantize(uint64_t word, int mode, const Registers& f, const Lines& scp, const Flags& flags) {
    const size_t count = f.shape(0);
    check(mode >= 0 && mode <= 4 && scp.shape(0) == count && flags.shape(0) == count);
    for (size_t n = 0; n < count; ++n) quantize(quant(word), tile(f, scp, n), mode, flags.data()[n]);
}

std::vector<std::tuple<uint64_t, nb::bytes>> tensor_store_rows(uint64_t word, uint64_t x31, const Registers& f,
                                                               const Lines& scp) {
    check(f.shape(0) == 1 && scp.shape(0) == 1);
    const Store operation = store(word, x31);
    std::vector<std::tuple<uint64_t, nb::bytes>> made;
    for (unsigned i = 0; i < operation.rows && operation.legal; ++i) {
        uint8_t bytes[LINE];
        store_row(operation, tile(f, scp, 0), i, bytes);
        made.emplace_back(operation.row(i), nb::bytes(bytes, operation.bytes));
    }
    return made;
}

std::vector<std::tuple<uint64_t, unsigned, bool>> tensor_sources(uint64_t word, uint64_t x31, uint16_t mask) {
    const Load operation = load(word, x31);
    std::vector<std::tuple<uint64_t, unsigned, bool>> made;
    for (unsigned k = 0; k < sources(operation); ++k) {
        const Source each = source(operation, k);
        made.emplace_back(each.address, each.bytes, skipped(operation, mask, k));
    }
    return made;
}

void tensor_place(uint64_t word, uint64_t x31, uint16_t mask, const Array<const uint8_t, 64, LINE>& data,
                  unsigned there, const Lines& scp) {
    check(scp.shape(0) == 1);
    const Load operation = load(word, x31);
    place(operation, mask, data.data(), std::min(there, sources(operation)), scp.data());
}

uint32_t tensor_combine(unsigned funct, const Vectors& incoming, const Vectors& local, int mode) {
    check(mode >= 0 && mode <= 4 && incoming.shape(0) == local.shape(0));
    uint32_t flags = 0;
    for (size_t n = 0; n < local.shape(0); ++n)
        combine(funct, reinterpret_cast<Register*>(incoming.data())[n], reinterpret_cast<Register*>(local.data())[n],
                mode, flags);
    return flags;
}

std::tuple<int, unsigned, bool> tensor_part(uint64_t word, unsigned minion) {
    const Reduce::Part part = reduce(word).part(minion);
    return {int(part.role), part.peer, part.bad};
}

}  // namespace

void bind_fabric(nb::module_&);

void bind_tensor(nb::module_& m) {
    bind_fabric(m);
    m.def("tensor_multiply", tensor_multiply, nb::arg("word"), nb::arg("masks"), nb::arg("mode"), nb::arg("f"),
          nb::arg("scp"), nb::arg("tenc"), nb::arg("tenb"), nb::arg("flags"));
    m.def("tensor_quantize", tensor_quantize, nb::arg("word"), nb::arg("mode"), nb::arg("f"), nb::arg("scp"),
          nb::arg("flags"));
    m.def("tensor_store_rows", tensor_store_rows, nb::arg("word"), nb::arg("x31"), nb::arg("f"), nb::arg("scp"));
    m.def("tensor_sources", tensor_sources, nb::arg("word"), nb::arg("x31"), nb::arg("mask"));
    m.def("tensor_place", tensor_place, nb::arg("word"), nb::arg("x31"), nb::arg("mask"), nb::arg("data"),
          nb::arg("there"), nb::arg("scp"));
    m.def("tensor_combine", tensor_combine, nb::arg("funct"), nb::arg("incoming"), nb::arg("local"), nb::arg("mode"));
    m.def("tensor_part", tensor_part, nb::arg("word"), nb::arg("minion"));
    m.def("tensor_conv_mask", conv_mask, nb::arg("size"), nb::arg("control"));
    m.def("tensor_wide", wide);
    m.def("set_tensor_wide", set_wide, nb::arg("wide"));
}
