// SPDX-License-Identifier: Apache-2.0
// Accesses of a hart to data: where they are, when they are there, and what the record says. Almost all are in DRAM,
// untranslated, and hit L1.
#pragma once

#include "chip.hpp"
#include "l1.hpp"
#include "spaces.hpp"

namespace polyloom::minion {

// Where data are that are not simply in DRAM.
template <class P>
Answer elsewhere(riscv::Hart<P>& h, uint64_t address, unsigned size, riscv::Access access, uint64_t& physical) {
    const HartState& state = *h.state.hart;
    const Use use = access == riscv::Access::load ? Use::load : Use::store;
    const Answer answer = translated(*h.state.memory, state, address, size, use, physical);
    if (answer.kind == Answer::done && h.state.memory->region_of(physical) == Region::esr) present(h);
    return answer;
}

// A line that L1 does not have.
template <class P>
POLYLOOM_COLD Answer fetch_line(riscv::Hart<P>& h, uint64_t physical, unsigned set, bool store) {
    uint64_t there = 0;
    const Answer answer = h.state.chip->fetch(*h.state.hart, physical, Traffic::scalar, there);
    if (answer.kind != Answer::done) {
        --h.state.hart->accesses;  // it is tried again
        return answer;
    }
    ++h.state.hart->misses;
    insert(h.state.minion->l1, set, physical, there);
    if (!store) h.timing.arrives(there);
    return riscv::DONE;
}

// A timed access to L1. A line that is on its way is as late for whoever asks next.
template <class P>
POLYLOOM_INLINE Answer use_line(riscv::Hart<P>& h, uint64_t physical, bool store) {
    L1Tags& l1 = h.state.minion->l1;
    const unsigned set = set_of(h.state.minion->mode, h.state.hart->number & 1, physical);
    const unsigned way = touch(l1, set, physical);
    ++h.state.hart->accesses;
    if (way == L1Tags::WAYS) [[unlikely]]
        return fetch_line(h, physical, set, store);
    if (!store) h.timing.arrives(l1.there[set][way]);
    return riscv::DONE;
}

// Both lines where an access crosses from one to the next.
template <class P>
POLYLOOM_INLINE Answer use_lines(riscv::Hart<P>& h, uint64_t physical, unsigned size, bool store) {
    const Answer answer = use_line(h, physical, store);
    if (answer.kind != Answer::done || physical % LINE + size <= LINE) [[likely]]
        return answer;
    return use_line(h, physical + LINE, store);
}

template <bool TIMED>
POLYLOOM_INLINE Answer Policy<TIMED>::translate(H& h, uint64_t address, unsigned size, riscv::Access access,
                                                uint64_t& physical) {
    const bool store = access == riscv::Access::store;
    const HartState& state = *h.state.hart;
    physical = address;
    if (address - state.plain_from >= state.plain_bytes) [[unlikely]] {
        const Answer answer = elsewhere(h, address, size, access, physical);
        if (answer.kind != Answer::done || h.state.memory->region_of(physical) == Region::esr) return answer;
    }
    if constexpr (TIMED)
        if (const Answer answer = use_lines(h, physical, size, store); answer.kind != Answer::done) [[unlikely]]
            return answer;
    const uint64_t pc = h.place->pc, now = TIMED ? state.now : state.clock + h.executed();
    Record& record = h.state.chip->record;
    const bool stops = store ? record.store(physical, size, state.number, pc, now)
                             : record.load(physical, size, state.number, pc, now);
    if (stops) [[unlikely]]
        return riscv::leave(riscv::Cause::exit);
    return riscv::DONE;
}

constexpr Traffic traffic_of(Kind kind, bool global) {
    switch (kind) {
        case Kind::load: return global ? Traffic::home_load : Traffic::local_load;
        case Kind::store: return global ? Traffic::home_store : Traffic::local_store;
        default: return global ? Traffic::home_atomic : Traffic::local_atomic;
    }
}

template <class P>
Answer shared(riscv::Hart<P>& h, uint64_t address, unsigned size, Kind kind, bool global, uint8_t*& datum) {
    const Context& context = h.state;
    HartState& state = *context.hart;
    const bool reads = kind != Kind::store, writes = kind != Kind::load;
    const riscv::Cause fault = writes ? riscv::Cause::store : riscv::Cause::load;
    present(h);
    if (address % size) return riscv::trap(fault, address);
    if (const Answer answer = context.chip->turn(state); answer.kind != Answer::done) return answer;
    uint64_t physical = 0;
    const Answer answer = translated(*context.memory, state, address, size, writes ? Use::store : Use::load, physical);
    if (answer.kind != Answer::done) return answer;
    // Erbium's SRAM has no atomics (sw-sysemu, pma_er.cpp).
    if (kind == Kind::atomic && context.memory->region_of(physical) == Region::sram) return riscv::trap(fault, address);
    datum = context.memory->at(physical, size);
    if (!datum) return riscv::trap(fault, address);
    const Site site{state.number, state.pc, state.now};
    // Without an L2, local accesses act in memory as global ones do.
    const Reach reach = global || context.memory->member == Member::erbium ? Reach::home : Reach::l2;
    if (context.chip->record.access(reach, physical, size, reads, writes, site))
        return riscv::leave(riscv::Cause::exit);
    if constexpr (P::Timing::PRESENT) {
        uint64_t there = 0;
        const Answer time = context.chip->fetch(state, physical, traffic_of(kind, global), there);
        if (time.kind != Answer::done) return time;
        if (reads) h.timing.arrives(there);
        if (kind == Kind::atomic) state.answered = there;
    }
    return riscv::DONE;
}

}  // namespace polyloom::minion
