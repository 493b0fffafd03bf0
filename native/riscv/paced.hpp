// SPDX-License-Identifier: Apache-2.0
// A hart that counts: how often each instruction was executed, and on an in-order core that issues one instruction a
// cycle, for how many cycles it waited for each operand and how many a taken branch took. The costs are given by
// address, so that the hart knows no class of instruction. With costs of zero it counts executions alone.
// Source of the rules: a scoreboard of one issue slot without forwarding limits (Hennessy and Patterson, appendix C).
#pragma once

#include <algorithm>
#include <array>
#include <vector>

#include "hart.hpp"

namespace polyloom::riscv {

// Registers are numbered through: x 0 to 31, f 32 to 63, 64 is none. `holds` are the cycles until the next instruction
// of the same unit may start, 0 for units that are pipelined.
struct Cost {
    uint8_t rd = 64, rs1 = 64, rs2 = 64, rs3 = 64, latency = 1, taken = 0, holds = 0;
};

// By instruction. `waited` are cycles by operand, the fourth for the unit; `writer` is the instruction that was waited
// for last, by operand, as its place in the table.
struct Paces {
    uint64_t executed = 0, jumped = 0;
    std::array<uint64_t, 4> waited{};
    std::array<uint32_t, 3> writer{};
};

struct InOrder {
    static constexpr bool PRESENT = true;

    template <class H, class D>
    bool issue(H&, const D& d) {
        const size_t n = place(d.pc);
        const Cost& cost = costs[n];
        Paces& own = counts[n];
        ++own.executed;
        const std::array<uint8_t, 3> reads = {cost.rs1, cost.rs2, cost.rs3};
        for (size_t k = 0; k < 3; ++k)
            if (ready[reads[k]] > clock) [[unlikely]] {
                own.waited[k] += ready[reads[k]] - clock, own.writer[k] = writers[reads[k]];
                clock = ready[reads[k]];
            }
        if (cost.holds) [[unlikely]] {
            if (unit > clock) own.waited[3] += unit - clock, clock = unit;
            unit = clock + cost.holds;
        }
        ready[cost.rd] = clock + cost.latency, writers[cost.rd] = uint32_t(n);
        ready[0] = ready[NONE] = 0;
        ++clock;
        return true;
    }
    template <class H, class D>
    void access(H&, const D&, uint64_t, unsigned, Access) {}
    template <class H, class D>
    void branch(H&, const D& d, bool taken, uint64_t) {
        if (!taken) return;
        const size_t n = place(d.pc);
        clock += costs[n].taken, counts[n].jumped += costs[n].taken;
    }

    // Of the last entry is whatever stands outside of the table.
    size_t place(uint64_t pc) const { return std::min<uint64_t>((pc - base) / 2, costs.size() - 1); }

    static constexpr uint8_t NONE = 64;
    uint64_t base = 0, clock = 0, unit = 0;
    std::vector<Cost> costs = std::vector<Cost>(1);
    std::vector<Paces> counts = std::vector<Paces>(1);
    std::array<uint64_t, NONE + 1> ready{};
    std::array<uint32_t, NONE + 1> writers{};
};

struct Paced32 : Plain32 {
    using Timing = InOrder;
    static constexpr bool FUSED = false;
};
struct Paced64 : Plain64 {
    using Timing = InOrder;
    static constexpr bool FUSED = false;
};
extern template struct Code<Paced32>;
extern template struct Code<Paced64>;
extern template struct Hart<Paced32>;
extern template struct Hart<Paced64>;

}  // namespace polyloom::riscv
