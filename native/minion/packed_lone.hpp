// SPDX-License-Identifier: Apache-2.0
// A hart that has packed instructions and a range of memory, and nothing around it: for tests.
#pragma once

#include "packed_rows.hpp"
#include "riscv/execute.hpp"

namespace polyloom::minion {

struct Lone : riscv::Plain<uint64_t> {
    using Floats = riscv::Lanes<256>;
    using State = Context;
    static constexpr riscv::Misaligned MISALIGNED = riscv::Misaligned::perform;
    static constexpr bool FUSED = false;
    template <class H>
    static Answer call(H&) {
        return riscv::trap(riscv::Cause::call);
    }
};

inline Answer floating(riscv::Hart<Lone>&, const riscv::Decoded<Lone>&) { return riscv::DONE; }

inline Answer shared(riscv::Hart<Lone>& h, uint64_t address, unsigned size, Kind kind, bool, uint8_t*& datum) {
    datum = address % size ? nullptr : h.memory.at(address, size);
    if (!datum) return riscv::trap(kind == Kind::load ? riscv::Cause::load : riscv::Cause::store, address);
    return riscv::DONE;
}

namespace packed {

struct Surroundings {
    HartState state;
    MinionState minion;
    ShireState shire;
};

struct LoneHart {
    static constexpr uint32_t EXTENSIONS = 1 << 0 | 1 << 1 | 1 << 3;

    LoneHart(Surroundings& around, const uint8_t* words, uint64_t size, riscv::Span memory)
        : code(EXTENSIONS, 0, size, words), needs(Latencies{}), hart(code, memory) {
        add_rows(code, needs, Latencies{});
        hart.state.hart = &around.state, hart.state.minion = &around.minion, hart.state.shire = &around.shire;
    }

    riscv::Code<Lone> code;
    Needs needs;
    riscv::Hart<Lone> hart;
};

}  // namespace packed
}  // namespace polyloom::minion
