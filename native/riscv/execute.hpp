// SPDX-License-Identifier: Apache-2.0
// The definitions of the members of Code and Hart. A file that makes a hart of a policy includes this one; hart.hpp
// tells how.
#pragma once

#include <limits>

#include "code.hpp"

namespace polyloom::riscv {

inline constexpr uint64_t PAGE = 4096;

template <class P>
Hart<P>::Hart(Code<P>& code, typename P::Memory memory, typename P::Reservations reservations)
    : memory(memory), code(&code), reservations(reservations),
      away{resolve<P>, 0, nullptr, 0, NO_OP, 0, 0, 0, 0, 0, 0, 0, 0}, single{away, away} {
    single[1].step = passed<P>;
}

template <class P>
typename Hart<P>::Place Hart<P>::at(X address) {
    if (Place found = code->at(address)) [[likely]]
        return found;
    away.pc = address;
    return &away;
}

// The fast path of an access: where the datum is, or null for whatever else there is to do, which `read` and `write`
// find out.
template <class P>
template <class T, Access ACCESS>
POLYLOOM_INLINE uint8_t* Hart<P>::direct(X address, uint64_t& physical) {
    if constexpr (P::MISALIGNED == Misaligned::round_down) address &= ~X(sizeof(T) - 1);
    if constexpr (P::MISALIGNED == Misaligned::trap)
        if (address & (sizeof(T) - 1)) [[unlikely]]
            return nullptr;
    physical = address;
    if constexpr (P::TRANSLATED) {
        if (P::MISALIGNED == Misaligned::perform && address % PAGE > PAGE - sizeof(T)) return nullptr;
        if (P::translate(*this, address, sizeof(T), ACCESS, physical).kind != Answer::done) return nullptr;
    }
    return memory.template direct<T>(physical);
}

template <class P>
Answer Hart<P>::locate(X address, uint64_t size, Access access, uint8_t*& datum, uint64_t& physical) {
    datum = nullptr, physical = address;
    if constexpr (P::TRANSLATED) {
        const Answer answer = P::translate(*this, address, unsigned(size), access, physical);
        if (answer.kind == Answer::absent) return trap(access == Access::load ? Cause::load : Cause::store, address);
        if (answer.kind != Answer::done) return answer;
    }
    datum = memory.at(physical, size);
    return DONE;
}

template <class P>
uint8_t* Hart<P>::bytes(X address, uint64_t size, Access access) {
    uint8_t* datum;
    uint64_t physical;
    if (P::TRANSLATED && size > PAGE - address % PAGE) return nullptr;
    return locate(address, size, access, datum, physical).kind == Answer::done ? datum : nullptr;
}

// Data that lie in several ranges or on two pages, byte by byte. All bytes are located before any is written, so that a
// trap leaves memory as it was.
template <class P>
Answer Hart<P>::across(X address, unsigned size, Access access, uint64_t& value) {
    uint8_t* datum[8];
    uint64_t physical[8];
    const bool loads = access == Access::load;
    for (unsigned n = 0; n < size; ++n) {
        const Answer answer = locate(X(address + n), 1, access, datum[n], physical[n]);
        if (answer.kind != Answer::done) return answer;
        if (datum[n]) continue;
        uint64_t unused;
        uint8_t* first;
        const bool begins = n > 0 && locate(address, 1, access, first, unused).kind == Answer::done && first;
        return trap(loads ? Cause::load : Cause::store, begins ? X(address + n) : address);
    }
    if (loads) value = 0;
    for (unsigned n = 0; n < size; ++n) {
        if (loads) {
            value |= uint64_t(*datum[n]) << 8 * n;
        } else {
            *datum[n] = uint8_t(value >> 8 * n);
            reservations.stored(physical[n], 1);
        }
    }
    return DONE;
}

template <class P>
Answer Hart<P>::read(X address, unsigned size, uint64_t& value) {
    if constexpr (P::MISALIGNED == Misaligned::round_down) address &= ~X(size - 1);
    const bool misaligned = address & (size - 1);
    if (P::MISALIGNED == Misaligned::perform && misaligned) return across(address, size, Access::load, value);
    uint8_t* datum;
    uint64_t physical;
    Answer answer = locate(address, size, Access::load, datum, physical);
    if (answer.kind != Answer::done) return answer;
    if (misaligned) return trap(datum ? Cause::misaligned : Cause::load, address);
    value = 0;
    if (datum)
        std::memcpy(&value, datum, size);
    else
        answer = memory.load(physical, size, value);
    return answer.kind == Answer::absent ? trap(Cause::load, address) : answer;
}

template <class P>
Answer Hart<P>::write(X address, unsigned size, uint64_t value) {
    if constexpr (P::MISALIGNED == Misaligned::round_down) address &= ~X(size - 1);
    const bool misaligned = address & (size - 1);
    if (P::MISALIGNED == Misaligned::perform && misaligned) return across(address, size, Access::store, value);
    uint8_t* datum;
    uint64_t physical;
    Answer answer = locate(address, size, Access::store, datum, physical);
    if (answer.kind != Answer::done) return answer;
    if (misaligned) return trap(datum ? Cause::misaligned_store : Cause::store, address);
    if (datum) {
        std::memcpy(datum, &value, size);
        reservations.stored(physical, size);
    } else {
        answer = memory.store(physical, size, value);
    }
    return answer.kind == Answer::absent ? trap(Cause::store, address) : answer;
}

template <class P>
void Hart<P>::drive(Place from, int64_t budget) {
#ifdef POLYLOOM_CHAINED
    from->step(*this, from, budget);
#else
    running = true, place = from, left = budget;
    while (running) place->step(*this, place, left);
#endif
}

// A copy of an instruction with a step behind it that ends the run: only this instruction is executed.
template <class P>
typename Hart<P>::Place Hart<P>::alone(Place from) {
    single[0] = *from;
    if (from->fused) single[0].step = plain_step(*from, code->custom);
    single[0].run = 1, single[0].entries = {};
    single[0].entries.add(1);
    single[1].pc = X(from->pc + from->bytes);
    return &single[0];
}

template <class P>
Outcome Hart<P>::outcome(uint64_t rest) {
    if (ended.cause == Cause::wait) return {Cause::wait, ended.pc, 0, rest, 0};
    ended.executed = rest;
    unsigned there = 0;
    const uint32_t word = uint32_t(code->word(X(ended.pc), there));
    ended.word = (word & 3) == 3 ? word : word & 0xffff;
    return ended;
}

// Blocks are executed as long as they fit the limit; then their instructions one by one, so that exactly `most` are
// executed.
template <class P>
Outcome Hart<P>::run(X from, X until, uint64_t most) {
    pc = from, stop = until;
    code->stop_at(until);
    most = std::min<uint64_t>(most, std::numeric_limits<int64_t>::max());
    int64_t rest = int64_t(most);
    while (rest > 0) {
        const Place first = at(pc);
        const bool whole = first->run <= rest;
        const int64_t now = whole ? rest : 1;
        limit = most - uint64_t(rest - now);
        if (whole) first->entries.add(1);
        drive(whole ? first : alone(first), now - (whole ? first->run : 1));
        if constexpr (P::COUNTED)
            if (!whole) code->count_alone(single[0].pc, single[0].entries.count);
        rest -= now - left;
        if (!paused) return outcome(most - uint64_t(rest));
    }
    return {Cause::limit, pc, 0, most - uint64_t(rest), 0};
}

}  // namespace polyloom::riscv
