// SPDX-License-Identifier: Apache-2.0
// Send and receive, along tree edges or between any two: the transfer starts when both sides are at the head of their
// queues and name each other with equal counts. Sources: facts §6.7; minion.md, "Many minions" and "Time".
#include <algorithm>

#include "chip.hpp"
#include "state.hpp"
#include "tensor.hpp"

namespace polyloom::minion {

namespace {

constexpr unsigned FINE = 16;  // parts of a cycle

using tensor::Command;
using tensor::Reduce;
using tensor::Role;

// What carries a ready signal: one bit for sends, one for each height of the tree.
unsigned channel(const Reduce& reduce) {
    return reduce.command == Command::send || reduce.command == Command::receive ? 0 : 1u + reduce.height;
}

// When a step could begin: the cycle of now, or the exact end of the step whose end let it begin.
uint64_t exact_start(const Unit& unit, const Operation& op) {
    return unit.exact && (unit.exact + FINE - 1) / FINE == op.started ? unit.exact : op.started * FINE;
}

}  // namespace

void Chip::meet(uint32_t minion) {
    Unit& unit = units[minion];
    Operation& op = unit[Class::reduce];
    const Reduce reduce = tensor::reduce(op.value);
    const Reduce::Part part = reduce.part(minion);
    if (part.peer >= units.size()) return;  // it never comes
    Unit& other = units[part.peer];
    if (part.role == Role::receives && hazards_on())
        hazards.ready(minion, part.peer, int(channel(reduce)) - 1, site_of(minion, op));
    const Operation& its = other[Class::reduce];
    if (!its.busy || !its.running || its.ends) return;
    const Reduce theirs = tensor::reduce(its.value);
    const Reduce::Part their_part = theirs.part(part.peer);
    if (their_part.peer != minion || their_part.role == part.role || channel(theirs) != channel(reduce)) return;
    const bool sends = part.role == Role::sends;
    if (theirs.count != reduce.count) {
        const Site mine = site_of(minion, op), other_site = site_of(part.peer, its);
        if (!hazards_on()) return;
        return sends ? hazards.count_mismatch(mine, reduce.count, other_site, theirs.count)
                     : hazards.count_mismatch(other_site, theirs.count, mine, reduce.count);
    }
    transfer(sends ? minion : part.peer, sends ? part.peer : minion);
}

// Both sides end when the last register has arrived.
void Chip::transfer(uint32_t from, uint32_t to) {
    Unit &sender = units[from], &receiver = units[to];
    Operation &source = sender[Class::reduce], &target = receiver[Class::reduce];
    const Reduce sent = tensor::reduce(source.value), taken = tensor::reduce(target.value);
    join(from), join(to);
    uint32_t flags = 0;
    for (unsigned k = 0; k < taken.count; ++k)
        tensor::combine(taken.funct, harts[2 * from]->f[(sent.freg + k) % 32], harts[2 * to]->f[(taken.freg + k) % 32],
                        target.frm, flags);
    raise(to, flags);
    receiver.counts[Unit::MESSAGE_BYTES] += uint64_t(taken.count) * sizeof(Register);
    if (hazards_on()) hazards.received(to, from, int(channel(taken)) - 1);
    source.effected = target.effected = true;
    take_effect(from), take_effect(to);
    if (!options.timed) {
        complete(from, Class::reduce);
        return complete(to, Class::reduce);
    }
    uint64_t end = std::max(exact_start(sender, source), exact_start(receiver, target));
    end += FINE * message_time(from, to) + (taken.count - 1) * parameters.fine(Parameter::message_register);
    if (channel(taken)) end += parameters.fine(Parameter::tree_start);
    sender.exact = receiver.exact = end;
    source.ends = target.ends = (end + FINE - 1) / FINE;
    post(source.ends, source.hart, EventKind::complete, tag(source, Class::reduce));
    post(target.ends, target.hart, EventKind::complete, tag(target, Class::reduce));
}

// One way, of the first register. Tree edges join minions of a neighbourhood that differ in one bit, above which the
// lower has zeros.
uint64_t Chip::message_time(uint32_t a, uint32_t b) {
    const uint32_t differ = a ^ b;
    if (differ < 8) {
        const bool one = (differ & (differ - 1)) == 0, edge = one && (std::min(a, b) & (2 * differ - 1)) == 0;
        return parameters[edge ? Parameter::message_edge : Parameter::message_shire];
    }
    if (a / 32 == b / 32) return parameters[Parameter::message_shire];
    return parameters[Parameter::message_far] + parameters[Parameter::message_hop] * fabric.hops(a / 32, b / 32);
}

}  // namespace polyloom::minion
