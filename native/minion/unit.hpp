// SPDX-License-Identifier: Apache-2.0
// A minion's tensor unit as the chip sees it: which operation holds the place of each class, the order among those that
// have the registers, the loads under way and the lines of a LoadB. Source: minion.md, "Tensor operations".
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

namespace polyloom::minion {

// Classes of operations; each has one place, loads to L2Scp one for each id.
enum class Class : uint8_t { load, load_b, load_l2_0, load_l2_1, fma, quant, store, reduce, count };
constexpr unsigned CLASSES = unsigned(Class::count);
constexpr bool is_load(Class c) { return c < Class::fma; }

// An operation from its acceptance, when its operands are sampled, to its completion. What each event looks at is
// first.
struct alignas(64) Operation {
    uint32_t sequence = 0;
    uint32_t members = 0;  // minions of the shire that load together, by bits; 0 of other operations
    uint16_t mask = 0, hart = 0;
    uint8_t frm = 0, id = 0, group = 0;
    bool busy = false, running = false, effected = false;
    bool registers = true;  // it reads or writes the registers: no IMA8 that writes only TenC
    uint64_t value = 0, x31 = 0, pc = 0, accepted = 0, started = 0, ends = 0;
    uint64_t poisoned = 0;  // lines of L1Scp that it must not read yet
};

// A load or a store under way: the physical addresses of its lines, in order; the cycle of the latest arrival.
struct alignas(64) Lines {
    unsigned count = 0, next = 0;
    uint64_t arrival = 0;
    std::array<uint64_t, 64> address{};
};

// B's lines on their way to the FMA, and when that FMA's steps use them.
struct alignas(64) Stream {
    uint8_t lines = 0, known = 0;  // `known` arrivals, and steps where the FMA runs
    bool live = false;             // a LoadB that no FMA has consumed yet
    bool paired = false, running = false;
    bool asked = false;            // the next line's event is under way
    uint64_t next = 0;             // the first cycle in which another line may be asked for
    uint64_t base = 0, total = 0;  // of the FMA: when step 0 may start, and how long it takes without delays
    std::array<uint64_t, 16> arrival{}, step{};
};

struct Unit {
    std::array<Operation, CLASSES> places{};
    std::array<Class, 4> order{};  // of fma, quant, store and reduce, as accepted
    uint8_t queued = 0;
    uint32_t sequence = 0;
    std::array<Lines, CLASSES> lines{};
    Stream stream, before;  // of the LoadB that is younger, and of the one before it, which an FMA still consumes
    alignas(64) std::array<std::array<uint8_t, 64>, 16> tenb{}, tenb_running{};
    uint64_t load_free = 0;                               // when the engine of L2Scp loads is free
    std::array<std::array<uint64_t, 3>, 2> operations{};  // until when cache operations of waits 4, 5, 6 run, by hart
    uint64_t exact = 0;                                   // of the reduce that completed last, in sixteenths

    uint64_t first_fma = 0, last_fma = 0;  // when the first FMA began and the last ended
    std::array<uint64_t, 36> counts{};     // of events of the PMU, by their numbers; then of those below
    // Of thread 0; those of thread 1 are one more. L2_MISS_REQ is of both.
    static constexpr unsigned BRANCHES = 4, L1_ACCESSES = 6, L1_MISSES = 8, L2_MISS_REQ = 10;
    static constexpr unsigned TL_INST = 14, TL_OPS = 15, TS_INST = 16, TS_OPS = 17, TENB_WAITS = 18, TIMA_OPS = 19,
                              TXFMA_3216_OPS = 20, TXFMA_32_OPS = 21, TFMA_INST = 26, TREDUCE_INST = 27,
                              TQUANT_INST = 28, EVENTS = 32;
    static constexpr unsigned LOAD_L2 = 32, WAITS = 33, MESSAGE_BYTES = 34, FMA_CYCLES = 35;

    Operation& operator[](Class c) { return places[unsigned(c)]; }
    [[nodiscard]] const Operation& operator[](Class c) const { return places[unsigned(c)]; }
    [[nodiscard]] bool busy(Class c) const { return places[unsigned(c)].busy; }
    void enqueue(Class c) { order[queued++] = c; }
    void dequeue(Class c) {
        auto* const end = std::remove(order.begin(), order.begin() + queued, c);
        queued = uint8_t(end - order.begin());
    }
    // Whether the registers of hart 0 belong to an operation.
    [[nodiscard]] bool holds_registers() const {
        return std::any_of(order.begin(), order.begin() + queued, [this](Class c) { return (*this)[c].registers; });
    }
};

}  // namespace polyloom::minion
