// SPDX-License-Identifier: Apache-2.0
// Counters of events: six for each neighbourhood and thread, of which the first four add up what all minions count that
// have selected an event; cycles are an event like others. Counts are computed when they are read. Source: facts §2;
// the vendor's emulator.
#include "chip.hpp"

namespace polyloom::minion {

// How often an event has happened in a minion, on one thread where it is counted by thread.
uint64_t Chip::count_of(uint32_t hart, unsigned event, uint64_t now) const {
    const Unit& unit = units[hart / 2];
    const std::array<HartState, 2>& both = minions[hart / 2].hart;
    if (event == CYCLES) return options.timed ? now : 0;
    if (event == RETIRED_0 || event == RETIRED_1) {
        const uint32_t counted = (hart & ~1u) + (event - RETIRED_0);
        return seats[counted].executed + (harts[counted] == running ? running->executed : 0);
    }
    if (event / 2 == Unit::BRANCHES / 2) return both[event & 1].taken;
    if (event / 2 == Unit::L1_ACCESSES / 2) return both[event & 1].accesses;
    if (event / 2 == Unit::L1_MISSES / 2) return both[event & 1].misses;
    if (event == Unit::L2_MISS_REQ) return both[0].misses + both[1].misses;
    return event < Unit::EVENTS ? unit.counts[event] : 0;
}

uint64_t& Chip::kept(const HartState& h, unsigned number) {
    const uint32_t neighbourhood = h.number / (HARTS_PER_MINION * MINIONS_PER_NEIGHBOURHOOD);
    return pmu[neighbourhood].kept[h.number & 1][number - FIRST_COUNTER];
}

// What the minions of a hart's neighbourhood add to a counter since they selected its event.
uint64_t Chip::adds(const HartState& h, unsigned number) const {
    constexpr uint32_t HARTS = HARTS_PER_MINION * MINIONS_PER_NEIGHBOURHOOD;
    const unsigned k = number - FIRST_COUNTER;
    if (k >= SHARED_COUNTERS) return 0;
    uint64_t sum = 0;
    for (uint32_t n = h.number / HARTS * HARTS + (h.number & 1); n < (h.number / HARTS + 1) * HARTS; n += 2) {
        if (n >= harts.size()) break;
        const Selected& selected = seats[n].selected[k];
        if (selected.event) sum += count_of(n, selected.event, h.now) - selected.since;
    }
    return sum;
}

Answer Chip::counter(HartState& h, unsigned number, uint64_t& value) {
    if (const Answer answer = turn(h); answer.kind != Answer::done) return answer;
    value = (kept(h, number) + adds(h, number)) & ((uint64_t(1) << COUNTER_BITS) - 1);
    return riscv::DONE;
}

Answer Chip::set_counter(HartState& h, unsigned number, uint64_t value) {
    if (const Answer answer = turn(h); answer.kind != Answer::done) return answer;
    const unsigned k = number - FIRST_COUNTER, own = RETIRED_0 + (h.number & 1);
    // What a write leaves is what the next instruction reads: it does not count itself (privileged manual, "minstret").
    const bool counts_itself = k < SHARED_COUNTERS && seats[h.number].selected[k].event == own;
    kept(h, number) = value - adds(h, number) - counts_itself;
    return riscv::DONE;
}

Answer Chip::event(HartState& h, unsigned number, uint64_t& value) {
    const unsigned k = number - FIRST_COUNTER;
    value = k < SHARED_COUNTERS ? seats[h.number].selected[k].event : 0;
    return riscv::DONE;
}

Answer Chip::set_event(HartState& h, unsigned number, uint64_t value) {
    if (const Answer answer = turn(h); answer.kind != Answer::done) return answer;
    const unsigned k = number - FIRST_COUNTER;
    if (k >= SHARED_COUNTERS) return riscv::DONE;
    Selected& selected = seats[h.number].selected[k];
    if (selected.event) kept(h, number) += count_of(h.number, selected.event, h.now) - selected.since;
    selected = {uint8_t(value), count_of(h.number, unsigned(value & 0xff), h.now)};
    return riscv::DONE;
}

}  // namespace polyloom::minion
