// SPDX-License-Identifier: Apache-2.0
#include "deadlock.hpp"

#include <algorithm>
#include <cstdio>

#include "tensor_words.hpp"
#include "unit.hpp"

namespace polyloom::minion {

namespace {

constexpr unsigned SHIRE_HARTS = 64, LOAD_B = 16, FMA = 7, REDUCE = 9, QUEUE = 7;
// By class of operation, the tensor_wait of what has its place; loads of L1Scp are 0 and 1.
constexpr std::array<unsigned, CLASSES> EVENT_OF_CLASS = {0, LOAD_B, 2, 3, FMA, 10, 8, REDUCE};

const char* event_name(unsigned event) {
    switch (event) {
        case 0:
        case 1: return "tensor_load";
        case 2:
        case 3: return "tensor_load_l2";
        case 7: return "tensor_fma";
        case 8: return "tensor_store";
        case 9: return "tensor_reduce";
        case 10: return "tensor_quant";
        default: return "tensor_load_b";
    }
}

template <class... T>
std::string printed(const char* form, T... values) {
    char text[200];
    std::snprintf(text, sizeof text, form, values...);
    return text;
}

std::string registers(unsigned count) { return printed(count == 1 ? "%u register" : "%u registers", count); }

// Sends and receives meet each other, and steps of the tree those of their height.
unsigned channel(const tensor::Reduce& reduce) {
    const bool tree = reduce.command == tensor::Command::broadcast || reduce.command == tensor::Command::reduce;
    return tree ? 1u + reduce.height : 0;
}

uint64_t key(uint32_t hart, unsigned counter) { return uint64_t(hart) << 1 | (counter & 1); }

}  // namespace

struct Deadlock::State {
    std::vector<const Wait*> waits;  // by hart
    const std::vector<Held>& held;

    [[nodiscard]] bool lives(uint32_t hart) const {
        return hart < waits.size() && waits[hart] && waits[hart]->kind != Waits::ended;
    }
    [[nodiscard]] const Held* operation(uint32_t minion, unsigned event) const {
        const auto found = std::find_if(held.begin(), held.end(),
                                        [&](const Held& h) { return h.minion == minion && h.event == event; });
        return found == held.end() ? nullptr : &*found;
    }
};

Deadlock::Deadlock(unsigned minions) : minions(minions), joins(size_t(2) * minions), barriers((minions + 31) / 32) {}

void Deadlock::credited(const Site& giver, uint32_t hart, unsigned counter) {
    std::vector<Gift>& all = gifts[key(hart, counter)];
    const auto known = std::find_if(all.begin(), all.end(), [&](const Gift& gift) {
        return gift.giver.hart == giver.hart && gift.giver.pc == giver.pc;
    });
    if (known == all.end())
        all.push_back({giver, 1});
    else
        known->giver = giver, ++known->count;
}

void Deadlock::joined(const Site& site, unsigned shire, unsigned number, unsigned participants, bool last) {
    if (site.hart >= joins.size() || shire >= barriers.size() || number >= 32) return;
    Barrier& barrier = barriers[shire][number];
    joins[site.hart] = {site, shire, number, participants, barrier.round, true};
    barrier.joined |= uint64_t(1) << site.hart % SHIRE_HARTS;
    barrier.ever |= uint64_t(1) << site.hart % SHIRE_HARTS;
    if (last) ++barrier.round, barrier.joined = 0;
}

std::vector<Reason> Deadlock::explain(const std::vector<Blocked>& blocked, const std::vector<Held>& held) const {
    State state{std::vector<const Wait*>(size_t(2) * minions), held};
    for (const Blocked& hart : blocked)
        if (hart.hart < state.waits.size()) state.waits[hart.hart] = &hart.wait;
    std::vector<Reason> reasons;
    for (const Blocked& hart : blocked)
        if (state.lives(hart.hart)) reasons.push_back(of_hart(hart, state));
    for (const Held& operation : held) reasons.push_back(of_operation(operation, state));
    return reasons;
}

Reason Deadlock::of_hart(const Blocked& hart, const State& state) const {
    Reason reason;
    reason.hart = hart.hart, reason.pc = hart.wait.pc, reason.since = hart.wait.since;
    const uint32_t first = hart.hart & ~1u;
    switch (hart.wait.kind) {
        case Waits::place: {
            const unsigned event = EVENT_OF_CLASS[hart.wait.a % CLASSES];
            reason.kind = "place", reason.releasers = {first};
            reason.text = printed("waits until the %s before it is complete", event_name(event));
            break;
        }
        case Waits::event:
            reason.kind = "event", reason.releasers = {first};
            reason.text = printed("waits by tensor_wait %u for its %s", hart.wait.a, event_name(hart.wait.a));
            break;
        case Waits::registers:
            reason.kind = "registers", reason.releasers = {first};
            reason.text = "waits with a floating-point or SIMD instruction for a tensor operation";
            break;
        case Waits::credit: of_credit(reason, hart, state); break;
        case Waits::interrupt: reason.kind = "interrupt", reason.text = "sleeps until an interrupt"; break;
        case Waits::disabled: reason.kind = "disabled", reason.text = "is disabled by an ESR of its shire"; break;
        default: reason.kind = "runs", reason.text = "could run"; break;
    }
    return reason;
}

// Harts that have yet to join the barrier that this one joined last, or those that gave this credit before.
void Deadlock::of_credit(Reason& reason, const Blocked& hart, const State& state) const {
    const unsigned counter = hart.wait.a & 1;
    reason.kind = "credit", reason.text = printed("waits for credit %u", counter);
    const Join& join = joins[hart.hart];
    if (join.any && barriers[join.shire][join.barrier].round == join.round) {
        const Barrier& barrier = barriers[join.shire][join.barrier];
        unsigned present = 0;
        uint64_t others = 0;
        for (uint32_t n = 0; n < SHIRE_HARTS; ++n) {
            const uint64_t bit = uint64_t(1) << n;
            if (barrier.joined & bit)
                ++present;
            else if (state.lives(join.shire * SHIRE_HARTS + n))
                others |= bit;
        }
        if (others & barrier.ever) others &= barrier.ever;
        for (uint32_t n = 0; n < SHIRE_HARTS; ++n)
            if (others >> n & 1) reason.releasers.push_back(join.shire * SHIRE_HARTS + n);
        reason.note =
            printed("barrier %u of shire %u has %u of %u joins", join.barrier, join.shire, present, join.participants);
        return;
    }
    const auto given = gifts.find(key(hart.hart, counter));
    if (given != gifts.end())
        for (const Gift& gift : given->second) {
            if (!state.lives(gift.giver.hart)) continue;
            reason.gave.push_back(gift.giver);
            if (std::find(reason.releasers.begin(), reason.releasers.end(), gift.giver.hart) == reason.releasers.end())
                reason.releasers.push_back(gift.giver.hart);
        }
    if (reason.releasers.empty()) reason.note = "unknown: no hart that still runs has given this credit before";
}

Reason Deadlock::of_operation(const Held& held, const State& state) const {
    Reason reason;
    reason.hart = 2 * held.minion, reason.operation = true, reason.pc = held.pc, reason.since = held.accepted;
    reason.releasers = {reason.hart};
    if (held.event == LOAD_B) {
        reason.kind = "pair", reason.text = "streams B for a tensor_fma with TENB=1";
        if (!state.operation(held.minion, FMA)) reason.note = "no such tensor_fma was issued";
    } else if (!held.head) {
        reason.kind = "behind", reason.text = printed("%s waits for an older tensor operation", event_name(held.event));
    } else if (held.event == REDUCE) {
        of_transfer(reason, held, state);
    } else {
        reason.kind = "runs", reason.text = printed("%s is under way", event_name(held.event));
    }
    return reason;
}

void Deadlock::of_transfer(Reason& reason, const Held& held, const State& state) const {
    const tensor::Reduce mine = tensor::reduce(held.value);
    const tensor::Reduce::Part part = mine.part(held.minion);
    const bool sends = part.role == tensor::Role::sends;
    reason.kind = "transfer", reason.releasers.clear();
    reason.text = printed(sends ? "sends %s to minion %u" : "receives %s from minion %u", registers(mine.count).c_str(),
                          unsigned(part.peer));
    if (mine.command == tensor::Command::broadcast || mine.command == tensor::Command::reduce)
        reason.text += printed(" at height %u of the tree", unsigned(mine.height));
    if (part.peer >= minions) {
        reason.note = printed("minion %u was not started", unsigned(part.peer));
        return;
    }
    if (!state.lives(2u * part.peer)) {
        reason.note = printed("minion %u has ended", unsigned(part.peer));
        return;
    }
    reason.releasers = {2u * part.peer};
    const Held* other = state.operation(part.peer, REDUCE);
    if (!other) return;
    const tensor::Reduce theirs = tensor::reduce(other->value);
    const tensor::Reduce::Part its = theirs.part(part.peer);
    const char* does = its.role == tensor::Role::sends ? "sends to" : "receives from";
    if (its.peer != held.minion)
        reason.note = printed("minion %u %s minion %u instead", unsigned(part.peer), does, unsigned(its.peer));
    else if (its.role == part.role)
        reason.note = printed("minion %u %s minion %u as well: one of the two has to %s first", unsigned(part.peer),
                              does, unsigned(its.peer), sends ? "receive" : "send");
    else if (theirs.count != mine.count)
        reason.note = printed("minion %u names %s", unsigned(part.peer), registers(theirs.count).c_str());
    else if (channel(theirs) != channel(mine))
        reason.note = printed("minion %u names another step of the tree", unsigned(part.peer));
}

}  // namespace polyloom::minion
