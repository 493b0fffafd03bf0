// SPDX-License-Identifier: Apache-2.0
// What the chip has to do, in the order of (cycle, hart, sequence). Cycles near the present lie in a ring of buckets,
// one per cycle, whose occupied ones are found by bits; the others in a heap.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <vector>

namespace polyloom::minion {

// A cycle and a hart, in the order in which shared things happen.
constexpr unsigned HART_BITS = 12;
constexpr uint64_t key_of(uint64_t cycle, uint32_t hart) { return cycle << HART_BITS | hart; }
constexpr uint64_t cycle_of(uint64_t key) { return key >> HART_BITS; }
constexpr uint32_t hart_of(uint64_t key) { return uint32_t(key & ((1u << HART_BITS) - 1)); }

struct Event {
    uint64_t key = 0;
    uint64_t data = 0;  // what it is about, by kind
    uint32_t sequence = 0;
    uint8_t kind = 0;
};

class Events {
  public:
    static constexpr uint64_t NONE = ~uint64_t(0);

    void push(uint64_t cycle, uint32_t hart, uint8_t kind, uint64_t data = 0) {
        const Event event{key_of(cycle, hart), data, sequence++, kind};
        ++count;
        if (cycle <= present)
            insert(event);
        else if (cycle - present < RING)
            place(event, cycle);
        else
            later.push_back(event), std::push_heap(later.begin(), later.end(), after);
    }
    [[nodiscard]] bool empty() const { return count == 0; }
    // The key of the event that is next, NONE without one.
    uint64_t next() {
        if (now.empty() && !advance()) return NONE;
        return now.back().key;
    }
    // The event that is next, which there is.
    [[nodiscard]] const Event& top() const { return now.back(); }
    // One of those that follow in its cycle, none where there are not so many.
    [[nodiscard]] const Event* ahead(size_t k) const { return k < now.size() ? &now[now.size() - 1 - k] : nullptr; }
    Event pop() {
        next();
        const Event event = now.back();
        drop();
        popped = cycle_of(event.key);
        return event;
    }
    // Forgets the event that is next, as if it had never been.
    void drop() { now.pop_back(), --count; }
    // That of the event that was popped last.
    [[nodiscard]] uint64_t cycle() const { return popped; }

  private:
    static constexpr uint64_t RING = 4096, WORDS = RING / 64;
    static bool after(const Event& a, const Event& b) {
        return a.key != b.key ? a.key > b.key : a.sequence > b.sequence;
    }
    void insert(const Event& event) { now.insert(std::upper_bound(now.begin(), now.end(), event, after), event); }
    void place(const Event& event, uint64_t cycle) {
        const uint64_t at = cycle % RING;
        ring[at].push_back(event);
        bits[at / 64] |= uint64_t(1) << at % 64;
        summary |= uint64_t(1) << at / 64;
    }
    // The next occupied cycle of the ring, which is less than RING from the present.
    [[nodiscard]] uint64_t soonest() const {
        if (!summary) return NONE;
        const uint64_t from = (present + 1) % RING, word = from / 64;
        if (const uint64_t rest = bits[word] >> from % 64) return present + 1 + uint64_t(std::countr_zero(rest));
        const uint64_t turned = std::rotr(summary, int((word + 1) % WORDS));
        const uint64_t found = (word + 1 + uint64_t(std::countr_zero(turned))) % WORDS;
        const uint64_t place = 64 * found + uint64_t(std::countr_zero(bits[found]));
        return present + 1 + (place + RING - from) % RING;
    }
    bool advance() {
        uint64_t cycle = soonest();
        if (!later.empty()) cycle = std::min(cycle, cycle_of(later.front().key));
        if (cycle == NONE) return false;
        present = cycle;
        const uint64_t place = cycle % RING;
        now.swap(ring[place]);
        bits[place / 64] &= ~(uint64_t(1) << place % 64);
        if (!bits[place / 64]) summary &= ~(uint64_t(1) << place / 64);
        while (!later.empty() && cycle_of(later.front().key) == cycle) {
            now.push_back(later.front());
            std::pop_heap(later.begin(), later.end(), after), later.pop_back();
        }
        if (now.size() > 1) std::sort(now.begin(), now.end(), after);
        return true;
    }

    uint64_t present = 0, popped = 0, summary = 0, count = 0;  // `present`: of the bucket that `now` is from
    uint32_t sequence = 0;
    std::array<uint64_t, WORDS> bits{};
    std::vector<Event> now, later;  // up to the present cycle, latest first; a heap of those beyond the ring
    std::array<std::vector<Event>, RING> ring;
};

}  // namespace polyloom::minion
