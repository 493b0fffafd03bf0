// SPDX-License-Identifier: Apache-2.0
// When instructions issue: one a cycle of a minion, in order, each as soon as its operands are there. A hart of the
// timed mode asks `Issue` before each instruction. Sources: minion.md, "Time"; facts §2.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "riscv/hart.hpp"
#include "state.hpp"
#include "timeline.hpp"

namespace polyloom::minion {

// Latencies in cycles, from timing.toml.
struct Latencies {
    uint8_t alu = 1, load = 5, branch = 3, mul_word = 4, mul = 8, div_word = 33, div = 65;
    uint8_t vector_integer = 2, vector_float = 7, transcendental = 28, gather = 8, instruction_miss = 47;
};

// What an instruction needs and takes. Registers are numbered through: x, then what nobody writes, f, masks and what
// nobody reads; an operand is its field plus a base.
struct Need {
    enum Unit : uint8_t { plain, multiplier, control };  // a gather holds issue for longer
    static constexpr uint8_t X = 0, NONE = 33, F = 65, M = 97, NOWHERE = 105, REGISTERS = 138;
    uint8_t rd = X, rs1 = X, rs2 = X, rs3 = NONE;
    uint8_t latency = 1, holds = 1;
    Unit unit = plain;
    bool stores = false;  // reads the f register that stands where others have rd
};

struct Needs {
    static constexpr size_t CUSTOM_ROWS = 512;
    std::array<Need, 256> standard;
    std::array<Need, CUSTOM_ROWS> custom;
    uint8_t branch = 3, load = 5, instruction_miss = 47;

    // Of the standard rows; custom ones are added with their rows.
    explicit Needs(const Latencies& latencies);
    [[nodiscard]] const Need& of(uint16_t op) const {
        return op < riscv::CUSTOM ? standard[op & 255] : custom[(op - riscv::CUSTOM) % CUSTOM_ROWS];
    }
};

struct Issue {
    static constexpr bool PRESENT = true;

    template <class H, class D>
    bool issue(H& h, const D& d) {
        HartState& state = *h.state.hart;
        MinionState& minion = *h.state.minion;
        const Need& need = needs->of(d.op);
        uint64_t cycle = std::max(state.clock, ready[need.rs1 + d.rs1]);
        cycle = std::max({cycle, ready[need.rs2 + d.rs2], ready[need.rs3 + d.rs3]});
        if (need.stores) [[unlikely]]
            cycle = std::max(cycle, ready[Need::F + (d.rd & 31)]);
        if (d.pc / LINE != line) [[unlikely]]
            cycle = fetch(*h.state.shire, minion.number / MINIONS_PER_NEIGHBOURHOOD % NEIGHBOURHOODS, d.pc, cycle);
        if (need.unit == Need::multiplier) cycle = std::max(cycle, minion.multiplier);
        if (need.unit == Need::control) cycle = drained(cycle, unsigned(d.imm) & 0xfff);
        if (cycle >= state.window) {
            if (timeline) note_stall(state, need, d, cycle);
            state.clock = cycle, refused = true;
            return false;
        }
        if (timeline) [[unlikely]]
            note_stall(state, need, d, cycle), note_issue(need, d, cycle, std::max(cycle, minion.slot));
        cycle = std::max(cycle, minion.slot);
        state.now = cycle, state.pc = d.pc;
        state.clock = minion.slot = cycle + need.holds;
        if (need.unit == Need::multiplier) minion.multiplier = cycle + need.latency;
        destination = uint8_t(need.rd + (need.rd == Need::X ? d.rd : d.rd & 31));  // custom rows have 32 for 0
        before = ready[destination];
        ready[destination] = cycle + need.latency;
        return true;
    }
    template <class H, class D>
    void access(H&, const D&, uint64_t, unsigned, riscv::Access) {}
    template <class H, class D>
    void branch(H& h, const D&, bool taken, uint64_t) {
        if (taken) h.state.hart->clock += needs->branch - 1u, ++h.state.hart->taken;
    }

    // The data of the load that has just been issued are there in this cycle, or later ones of several.
    void arrives(uint64_t cycle) {
        ready[destination] = std::max(ready[destination], cycle);
        if (timeline) [[unlikely]]
            timeline->loaded.set(destination);
    }
    // The instruction answered "not yet": as if it had not been issued.
    void withdraw(HartState& state);

    const Needs* needs = nullptr;
    Timeline* timeline = nullptr;  // of a run with a trace or an account
    std::array<uint64_t, Need::REGISTERS> ready{};
    uint64_t line = ~uint64_t(0), before = 0;
    uint8_t destination = Need::NOWHERE;
    bool refused = false;  // the window ended the run, and not an instruction that was issued

  private:
    template <class D>
    [[gnu::noinline, gnu::cold]] void note_stall(const HartState& state, const Need& need, const D& d, uint64_t cycle) {
        if (cycle <= state.clock) return;
        const unsigned stored = need.stores ? Need::F + (d.rd & 31u) : Need::NONE;
        const std::array<unsigned, 4> reads = {0u + need.rs1 + d.rs1, 0u + need.rs2 + d.rs2, 0u + need.rs3 + d.rs3,
                                               stored};
        timeline->wait(why_until(cycle, reads, need.unit, state.minion->multiplier), state.clock, cycle, d.pc);
    }
    // Whatever reads or writes f or m registers is the vector unit's.
    template <class D>
    [[gnu::noinline, gnu::cold]] void note_issue(const Need& need, const D& d, uint64_t due, uint64_t cycle) {
        const auto is = [](uint8_t base) { return base == Need::F || base == Need::M; };
        const bool vector = need.stores || is(need.rd) || is(need.rs1) || is(need.rs2);
        timeline->loaded.reset(need.rd + (need.rd == Need::X ? d.rd : d.rd & 31u));
        timeline->issue(d.pc, cycle, cycle + (vector ? need.latency : need.holds), vector, due, need.holds);
    }
    [[nodiscard]] Stall why_until(uint64_t cycle, const std::array<unsigned, 4>& reads, Need::Unit unit,
                                  uint64_t multiplier) const;
    [[nodiscard]] uint64_t drained(uint64_t cycle, unsigned number) const;
    uint64_t fetch(ShireState& shire, unsigned neighbourhood, uint64_t pc, uint64_t cycle);
};

}  // namespace polyloom::minion
