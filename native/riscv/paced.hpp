// SPDX-License-Identifier: Apache-2.0
// Harts that count. The first kind counts executions of each instruction, by blocks that are entered. The second is an
// in-order core that issues one instruction a cycle: it also counts for how many cycles each instruction waited for
// which operand, and how many a taken branch took. The costs are given by address, so that the hart knows no class of
// instruction, but for what brings data of the memory.
// Source of the rules: a scoreboard of one issue slot without forwarding limits (Hennessy and Patterson, appendix C).
#pragma once

#include <algorithm>
#include <array>
#include <vector>

#include "account/snapshots.hpp"
#include "hart.hpp"

namespace polyloom::riscv {

// Registers are numbered through: x 0 to 31, f 32 to 63, 64 is none. `holds` are the cycles until the next instruction
// of the same unit may start, 0 for units that are pipelined; `loads` says that rd comes from the memory.
struct Cost {
    uint8_t rd = 64, rs1 = 64, rs2 = 64, rs3 = 64, latency = 1, taken = 0, holds = 0, loads = 0;
};

// By instruction, the cycles lost behind it when it was taken, for its unit, and by operand for results and for data
// of the memory, with the instruction that was waited for last, as its place in the table.
struct Waits {
    uint64_t jumped = 0, unit = 0;
    std::array<uint64_t, 3> result{}, data{};
    std::array<uint32_t, 3> writer{}, loader{};
};

struct InOrder {
    static constexpr bool PRESENT = true;
    // Cycles that are lost, by what to; in all others the core issues.
    enum Lost : uint8_t { RESULT, DATA, UNIT, BRANCH, LOSSES };
    // So fine that a page draws columns of a few snapshots each, of any run.
    static constexpr size_t MOST_SNAPSHOTS = 2048;

    template <class H, class D>
    bool issue(H&, const D& d) {
        const size_t n = place(d.pc);
        const Cost& cost = costs[n];
        if (std::max({ready[cost.rs1], ready[cost.rs2], ready[cost.rs3]}) > clock) [[unlikely]]
            wait(n, cost);
        if (cost.holds) [[unlikely]] {
            if (unit > clock) waits[n].unit += unit - clock, lose(UNIT, unit - clock);
            unit = clock + cost.holds;
        }
        ready[cost.rd] = clock + cost.latency, writers[cost.rd] = uint32_t(n);
        if (++clock == over_time.next) [[unlikely]]
            take_snapshot(clock, lost);
        return true;
    }
    template <class H, class D>
    void access(H&, const D&, uint64_t, unsigned, Access) {}
    template <class H, class D>
    void branch(H&, const D& d, bool taken, uint64_t) {
        if (!taken) return;
        const size_t n = place(d.pc);
        if (!costs[n].taken) return;
        waits[n].jumped += costs[n].taken, lose(BRANCH, costs[n].taken);
    }

    // Of the last entry is whatever stands outside of the table.
    size_t place(uint64_t pc) const { return std::min<uint64_t>((pc - base) / 2, costs.size() - 1); }

    // A register that nobody writes, and one that nobody reads.
    static constexpr uint8_t NONE = 64, NOWHERE = 65;
    uint64_t base = 0, clock = 0, unit = 0;
    std::vector<Cost> costs = std::vector<Cost>(1);
    std::vector<Waits> waits = std::vector<Waits>(1);
    std::array<uint64_t, NOWHERE + 1> ready{};
    std::array<uint32_t, NOWHERE + 1> writers{};
    std::array<uint64_t, LOSSES> lost{};
    Snapshots over_time;  // issues, then what is lost

  private:
    [[gnu::noinline]] void wait(size_t n, const Cost& cost) {
        const std::array<uint8_t, 3> reads = {cost.rs1, cost.rs2, cost.rs3};
        Waits& own = waits[n];
        for (size_t k = 0; k < 3; ++k) {
            if (ready[reads[k]] <= clock) continue;
            const uint32_t writer = writers[reads[k]];
            const uint64_t cycles = ready[reads[k]] - clock;
            const bool loads = costs[writer].loads;
            (loads ? own.data : own.result)[k] += cycles, (loads ? own.loader : own.writer)[k] = writer;
            lose(loads ? DATA : RESULT, cycles);
        }
    }
    // All cycles beyond a step's end are those of what is lost now.
    void lose(Lost to, uint64_t cycles) {
        lost[to] += cycles, clock += cycles;
        while (clock >= over_time.next) [[unlikely]] {
            std::array<uint64_t, LOSSES> before = lost;
            before[to] -= clock - over_time.next;
            take_snapshot(over_time.next, before);
        }
    }
    [[gnu::noinline]] void take_snapshot(uint64_t cycle, const std::array<uint64_t, LOSSES>& before) {
        std::array<uint64_t, LOSSES + 1> counts{cycle};
        for (size_t k = 0; k < LOSSES; ++k) counts[k + 1] = before[k], counts[0] -= before[k];
        over_time.take(counts);
    }
};

struct Counted32 : Plain32 {
    static constexpr bool COUNTED = true;
};
struct Counted64 : Plain64 {
    static constexpr bool COUNTED = true;
};
struct Paced32 : Counted32 {
    using Timing = InOrder;
    static constexpr bool FUSED = false;
};
struct Paced64 : Counted64 {
    using Timing = InOrder;
    static constexpr bool FUSED = false;
};
extern template struct Code<Counted32>;
extern template struct Code<Counted64>;
extern template struct Hart<Counted32>;
extern template struct Hart<Counted64>;
extern template struct Code<Paced32>;
extern template struct Code<Paced64>;
extern template struct Hart<Paced32>;
extern template struct Hart<Paced64>;

}  // namespace polyloom::riscv
