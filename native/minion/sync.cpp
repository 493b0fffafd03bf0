// SPDX-License-Identifier: Apache-2.0
// Barriers and credits: FLB, whose joins a shire serves one after another, and the counters that harts take from.
// Sources: facts §8; minion.md, "Many minions" and "Time".
#include <algorithm>
#include <bit>

#include "chip.hpp"
#include "state.hpp"

namespace polyloom::minion {

namespace {

using riscv::DONE;

}  // namespace

// The last to join resets the counter and is told so; a match that is below the count never comes.
Answer Chip::flb(HartState& h, uint64_t operand, uint64_t& old) {
    if (const Answer answer = turn(h); answer.kind != Answer::done) return answer;
    const unsigned barrier = operand & 31, match = operand >> 5 & 255, shire = h.number / HARTS_PER_SHIRE;
    uint8_t& count = shires[shire].flb[barrier];
    const Site site{h.number, h.pc, h.now};
    if (hazards_on()) hazards.barrier(site, shire, barrier, match + 1, count);
    old = count == match;
    deadlock.joined(site, shire, barrier, match + 1, old != 0);
    count = old ? 0 : uint8_t(count + 1);
    if (options.timed) {
        uint64_t& free = flb_free[shire];
        free = std::max(free, h.now) + parameters[Parameter::flb_join];
        h.resume = free + parameters[Parameter::flb_answer];
    }
    return DONE;
}

Answer Chip::fcc(HartState& h, uint64_t operand) {
    if (const Answer answer = turn(h); answer.kind != Answer::done) return answer;
    const unsigned counter = operand & 1;
    if (!h.credits[counter]) return hold(h, Waits::credit, counter);
    --h.credits[counter];
    return go(h);
}

Answer Chip::fccnb(HartState& h, uint64_t& value) {
    if (const Answer answer = turn(h); answer.kind != Answer::done) return answer;
    value = uint64_t(h.credits[1]) << 16 | h.credits[0];
    return DONE;
}

Answer Chip::sleep(HartState& h) {
    if (const Answer answer = turn(h); answer.kind != Answer::done) return answer;
    if (h.trap.mip & h.trap.mie) return go(h);
    return hold(h, Waits::interrupt, 0);
}

// A store to CREDINC: one credit to a counter of each hart in the mask, after its way.
void Chip::give_credits(HartState& h, unsigned shire, unsigned which, uint32_t mask) {
    if (!mask) return;
    const Gift gift{mask, uint16_t(shire), uint8_t(which >> 1), uint8_t(which & 1), {h.number, h.pc, h.now}};
    for (uint32_t rest = mask; rest; rest &= rest - 1)
        deadlock.credited(gift.giver, receiver(gift, unsigned(std::countr_zero(rest))), gift.counter);
    if (free_gifts.empty()) free_gifts.push_back(uint32_t(gifts.size())), gifts.emplace_back();
    const uint32_t place = free_gifts.back();
    free_gifts.pop_back();
    gifts[place] = gift;
    const uint64_t way = options.timed ? credit_time(h.number / HARTS_PER_SHIRE, shire) : 0;
    post(h.now + way, h.number, EventKind::credit, place);
}

uint32_t Chip::receiver(const Gift& gift, unsigned minion) {
    return HARTS_PER_SHIRE * gift.shire + HARTS_PER_MINION * minion + gift.thread;
}

uint64_t Chip::credit_time(unsigned from, unsigned to) {
    if (from == to) return parameters[Parameter::credit_shire];
    return parameters[Parameter::credit_far] + parameters[Parameter::credit_hop] * fabric.hops(from, to);
}

// Credits arrive: a counter that overflows wraps and is an error of its hart.
void Chip::arrive_credits(const Event& event) {
    const Gift gift = gifts[event.data];
    free_gifts.push_back(uint32_t(event.data));
    for (uint32_t rest = gift.mask; rest; rest &= rest - 1) {
        const uint32_t number = receiver(gift, unsigned(std::countr_zero(rest)));
        if (number >= harts.size()) {
            if (hazards_on()) hazards.lost_credit(gift.giver, number, gift.counter);
            continue;
        }
        HartState& to = *harts[number];
        if (++to.credits[gift.counter] == 0) {
            set_error(to, tensor::CREDIT_OVERFLOW, Hazards::credit_overflow(gift.giver, number, gift.counter));
        }
        wake(number);
    }
}

}  // namespace polyloom::minion
