// SPDX-License-Identifier: Apache-2.0
// The trace of a run: when each unit of a minion was busy, and what each hart waited for. A hart has three tracks: its
// core, that issues an instruction, the vector unit, in whose pipeline one of its floating-point or SIMD instructions
// is, and its waits. What follows without a gap is one span, so that a loop is not a span for each instruction.
#pragma once

#include <algorithm>
#include <array>
#include <bitset>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "account/columns.hpp"

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

// Where the cycles of harts went, for an account of all: by thread of a minion and instruction. A hart's cycles are
// those in which it issues, those before an issue in which the other hart had the slot, those that it waited for
// something, by Stall, and the others before an issue, behind taken branches and at the start.
struct Passed {
    static constexpr size_t STALLS = 18;
    uint64_t issued = 0, turn = 0, front = 0;
    std::array<uint64_t, STALLS> stalls{};
};
struct Account {
    // What has just been found is found again without a search: loops are shorter than this.
    static constexpr size_t RECENT = 1024;

    Passed& at(uint32_t thread, uint64_t pc) {
        auto& [known, place] = recent[thread][pc / 2 % RECENT];
        if (known != pc || !place) [[unlikely]]
            known = pc, place = &passed[thread][pc];
        return *place;
    }
    std::array<std::unordered_map<uint64_t, Passed>, 2> passed;
    std::array<std::array<std::pair<uint64_t, Passed*>, RECENT>, 2> recent{};
};
// The same over time, of all harts.
enum PassedKind : size_t { ISSUED, TURN, FRONT, STALL, PASSED_KINDS = STALL + Passed::STALLS };
constexpr size_t PASSED_COLUMNS = 512;

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

    // `account` is null where there is only a trace, and `traced` false where there is only an account.
    Timeline(Spans& spans, uint32_t hart, Account* account = nullptr, Columns* columns = nullptr, bool traced = true)
        : spans(spans), account(account), columns(columns), minion(hart / 2), thread(hart & 1), traced(traced) {}

    // An instruction issues, and occupies its unit in [from, to), and the issue slot for `holds` cycles; it would have
    // issued in `due`, had the other hart not had its turn. It is kept with the next one, unless it is withdrawn.
    void issue(uint64_t pc, uint64_t from, uint64_t to, bool vector, uint64_t due, uint64_t holds) {
        commit();
        pending = {from, to, minion, (vector ? VECTOR : CORE) + thread, 0, pc};
        pending_due = due, pending_holds = holds;
    }
    void withdraw() { pending.end = 0; }
    void commit() {
        if (!pending.end) return;
        if (account) count_issue();
        if (!traced) {
            pending.end = 0;
            return;
        }
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
        if (account) count_wait(why, from, to, pc);
        from = std::max(from, waited);
        if (from >= to) return;
        waited = to;
        if (!traced) return;
        spans.add({from, to, minion, WAITS + thread, uint64_t(why), pc});
    }

    // Cycles of the account up to the hart's end, at most those of the run. What its last instructions would have had
    // beyond them is taken back.
    uint64_t end(uint64_t cycles) {
        commit();
        for (size_t n = 0; n < last.size() && counted > cycles; ++n) {
            const Stretch& own = last[(newest + last.size() - n) % last.size()];
            const uint64_t from = std::max(own.from, cycles);
            if (!own.count || from >= counted) continue;
            *own.count -= counted - from;
            columns->take_back(own.kind, from, counted);
            counted = from;
        }
        return std::min(counted, cycles);
    }

    std::bitset<256> loaded;  // registers whose value a load brings

  private:
    Passed& at(uint64_t pc) { return account->at(thread, pc); }
    // Every cycle once: what an earlier wait or issue has counted is not counted again.
    void count_issue() {
        Passed& own = at(pending.pc);
        count(FRONT, own.front, pending_due), count(TURN, own.turn, pending.start);
        count(ISSUED, own.issued, pending.start + pending_holds);
    }
    // An instruction that issues and then waits, as at a barrier, has issued before.
    void count_wait(Stall why, uint64_t from, uint64_t to, uint64_t pc) {
        if (pending.end && pending.start < from) commit();
        from = std::max(from, counted);
        if (from >= to) return;
        Passed& own = at(pc);
        count(FRONT, own.front, from), count(STALL + size_t(why), own.stalls[size_t(why)], to);
    }
    // The cycles up to `to` that are not counted yet are of one kind.
    void count(size_t kind, uint64_t& sum, uint64_t to) {
        if (to <= counted) return;
        sum += to - counted;
        columns->add(kind, counted, to);
        newest = (newest + 1) % last.size();
        last[newest] = {counted, kind, &sum};
        counted = to;
    }

    static constexpr uint64_t BRANCH = 2;  // idle cycles behind a taken branch, or of the other hart's turn

    Spans& spans;
    Account* account;
    Columns* columns;  // beside an account
    // What was counted last, of which more may be taken back than an instruction has.
    struct Stretch {
        uint64_t from = 0;
        size_t kind = 0;
        uint64_t* count = nullptr;
    };
    std::array<Stretch, 16> last{};
    size_t newest = 0;
    uint64_t counted = 0, pending_due = 0, pending_holds = 1;
    uint32_t minion, thread;
    bool traced;
    Span pending;
    std::array<size_t, 2> opened{Spans::NONE, Spans::NONE};
    uint64_t waited = 0;
};

}  // namespace polyloom::minion
