// SPDX-License-Identifier: Apache-2.0
// The trace of a run: when each unit of a minion was busy, and what each hart waited for. A hart has three tracks: its
// core, that issues an instruction, the vector unit, in whose pipeline one of its floating-point or SIMD instructions
// is, and its waits. What follows without a gap is one span, so that a loop is not a span for each instruction.
#pragma once

#include <algorithm>
#include <array>
#include <bitset>
#include <cstdint>
#include <vector>

namespace polyloom::minion {

// Tracks: 0 and 1 the cores, 2 to 9 the classes of operations, 10 to 13 the banks of the shire whose number `owner` is,
// 14 and 15 the vector unit by hart, 16 and 17 waits by hart, 18 the memory shire `owner`. `word` is that of an
// operation, the address of a line, or the number of a Stall.
struct Span {
    uint64_t start = 0, end = 0;
    uint32_t owner = 0, track = 0;
    uint64_t word = 0, pc = 0;
};

// What a hart waits for: an operation, by its class, or one of those behind them.
enum class Stall : uint8_t {
    first_class,  // 0 to 7: enum Class
    registers = 8,
    credit,
    interrupt,
    barrier,
    cache_operation,
    data,        // of a load
    result,      // of another instruction
    code,        // of the instruction cache
    multiplier,  // MulDiv is busy
    drain,       // a CSR write waits until the hart's pipeline is empty
};

// All spans of a run. There are at most so many; the first that is not kept tells where the trace ends.
class Spans {
  public:
    static constexpr size_t MOST = size_t(1) << 21;
    static constexpr size_t NONE = ~size_t(0);
    static constexpr uint64_t WHOLE = ~uint64_t(0);

    // Its place; NONE where there is no room.
    size_t add(const Span& span) {
        if (all.size() < most) return all.push_back(span), all.size() - 1;
        cut = std::min(cut, span.start);
        return NONE;
    }

    std::vector<Span> all;
    size_t most = MOST;
    uint64_t cut = WHOLE;  // the first cycle that is not whole
};

// Of a hart, in time.
class Timeline {
  public:
    static constexpr uint32_t CORE = 0, VECTOR = 14, WAITS = 16, MEMORY = 18;

    Timeline(Spans& spans, uint32_t hart) : spans(spans), minion(hart / 2), thread(hart & 1) {}

    // An instruction issues, and occupies its unit in [from, to). It is kept with the next one, unless it is withdrawn.
    void issue(uint64_t pc, uint64_t from, uint64_t to, bool vector) {
        commit();
        pending = {from, to, minion, (vector ? VECTOR : CORE) + thread, 0, pc};
    }
    void withdraw() { pending.end = 0; }
    void commit() {
        if (!pending.end) return;
        const bool vector = pending.track >= VECTOR;
        size_t& open = opened[vector];
        const uint64_t gap = vector ? 0 : BRANCH;
        if (open != Spans::NONE && pending.start <= spans.all[open].end + gap)
            spans.all[open].end = std::max(spans.all[open].end, pending.end);
        else
            open = spans.add(pending);
        pending.end = 0;
    }
    void wait(Stall why, uint64_t from, uint64_t to, uint64_t pc) {
        from = std::max(from, waited);
        if (from >= to) return;
        waited = to;
        spans.add({from, to, minion, WAITS + thread, uint64_t(why), pc});
    }

    std::bitset<256> loaded;  // registers whose value a load brings

  private:
    static constexpr uint64_t BRANCH = 2;  // idle cycles behind a taken branch, or of the other hart's turn

    Spans& spans;
    uint32_t minion, thread;
    Span pending;
    std::array<size_t, 2> opened{Spans::NONE, Spans::NONE};
    uint64_t waited = 0;
};

}  // namespace polyloom::minion
