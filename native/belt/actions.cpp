// SPDX-License-Identifier: Apache-2.0
// What single operations do: arithmetic with its latency, scratch, memory, calls and transfers.
#include "model.hpp"

namespace polyloom::belt {

namespace {

std::string hexadecimal(uint64_t number) {
    std::string digits;
    do digits.insert(digits.begin(), "0123456789abcdef"[number & 15]);
    while (number >>= 4);
    return "0x" + digits;
}

std::string origin(uint32_t why) {
    static constexpr const char* causes[] = {"", "an overflow", "a division by zero", "a load outside of every array",
                                             "a float that no integer of the width is near"};
    return std::string(causes[unsigned(cause_of(why))]) + " in bundle " + std::to_string(bundle_of(why));
}

uint32_t word_of(const Value& value, unsigned lane) { return uint32_t(value.bits(lane)); }

}  // namespace

void Model::execute(const Issue& issue) {
    const Value* in[3];
    for (unsigned k = 0; k < issue.count; ++k) in[k] = &operand(issue, k);
    Value* made = take();
    if (issue.kernels && quickly(*issue.kernels, issue.action, *in[0], *in[1], *made)) [[likely]] {
        const unsigned latency = program.member.latencies[size_t(issue.op)][in[0]->width];
        if (in[0]->width == issue.width || issue.width == shapeless) [[likely]] {
            if (options.most_events) [[unlikely]]
                note(issue, *made);
            return later(issue, made, latency, false);
        }
    }
    unsigned width = in[0]->has_shape() ? in[0]->width : 2;
    // What has no width drops when its operation would with one.
    if (multiplies(issue.op) || shifts(issue.op)) {
        if (in[0]->has_shape() && in[0]->width != issue.width)
            fail(Fault::operands, "its first operand has another width than it states");
        width = issue.width;
    }
    const uint32_t bundle = frame->bundle - program.routines[frame->routine].first;
    compute({issue.op, issue.width, issue.lanes_log}, in, issue.count, *made, second, bundle);
    const unsigned latency = program.member.latencies[size_t(issue.op)][width];
    later(issue, made, latency, false);
    if (options.most_events) [[unlikely]]
        note(issue, *made);
    if (results_of(issue.op) == 2) {
        Value* other = take();
        other->copy(second);
        later(issue, other, latency, true);
        if (options.most_events) [[unlikely]]
            note(issue, *other);
    }
}

void Model::fill(const Issue& issue) {
    ++counters.fills;
    Value* made = take();
    const unsigned size = 1u << (issue.width + issue.lanes_log);
    const auto wrong = [&](const char* what) {
        fail(Fault::scratch, "byte " + std::to_string(issue.offset) + " of scratch " + what);
    };
    switch (frame->scratch.fill(*made, unsigned(issue.offset), issue.rotating, size, issue.width, frame->time)) {
        case Scratch::Found::operand: break;
        case Scratch::Found::fresh: made->shape(issue.width, issue.lanes_log), made->make_none(); break;
        case Scratch::Found::outside: wrong("is not allocated"); break;
        case Scratch::Found::unwritten: wrong("is not written"); break;
        case Scratch::Found::early: wrong("was spilled less than two bundles before"); break;
        case Scratch::Found::other: wrong("has an operand of another size"); break;
    }
    give(issue, made);
}

void Model::spill(const Issue& issue) {
    ++counters.spills;
    const Value* spilled = &operand(issue, 0);
    if (spilled->has_shape() && (spilled->width != issue.width || spilled->lanes_log != issue.lanes_log))
        fail(Fault::operands, "its operand has another size than it states");
    if (!spilled->has_shape()) {
        second.shape(issue.width, issue.lanes_log);
        second.make_none();
        spilled = &second;
    }
    const unsigned size = 1u << (issue.width + issue.lanes_log);
    if (!frame->scratch.spill(*spilled, unsigned(issue.offset), issue.rotating, size, issue.width, frame->time))
        fail(Fault::scratch, "byte " + std::to_string(issue.offset) + " of scratch is not allocated");
    if (options.most_events) [[unlikely]]
        note(issue, *spilled);
}

// False where an operand is a vector, None or NaR.
bool Model::scalar_address(const Issue& issue, unsigned count, uint32_t& address) const {
    const Value& base = operand(issue, 0);
    const Value& index = count > 1 ? operand(issue, 1) : base;
    if (base.lanes_log | index.lanes_log || !base.plain() || !index.plain()) return false;
    address = word_of(base, 0) + uint32_t(issue.offset) + (count > 1 ? word_of(index, 0) * issue.scale : 0);
    return true;
}

// base + index * scale + offset, lane by lane where one of them is a vector; modulo 2^32.
void Model::address_of(const Issue& issue, unsigned count, Value& address) const {
    const Value* in[2] = {&operand(issue, 0), count > 1 ? &operand(issue, 1) : nullptr};
    unsigned lanes_log = 0;
    u128 special = 0;
    for (unsigned k = 0; k < count; ++k) {
        if (in[k]->has_shape() && in[k]->lanes_log) {
            if (lanes_log && lanes_log != in[k]->lanes_log)
                throw BadOperands("operands have different numbers of lanes");
            lanes_log = in[k]->lanes_log;
        }
        special |= in[k]->none | in[k]->nar;
    }
    if (4u << lanes_log > most_bytes) throw BadOperands("there are more addresses than the longest vector has");
    address.shape(2, lanes_log);
    for (unsigned lane = 0; lane < address.lanes(); ++lane) {
        uint32_t sum = uint32_t(issue.offset);
        for (unsigned k = 0; k < count; ++k) {
            const unsigned from = in[k]->lanes_log ? lane : 0;
            if (in[k]->has_shape()) sum += word_of(*in[k], from) * (k ? issue.scale : 1u);
            if (!special) continue;
            const u128 bit = u128(1) << lane;
            if (in[k]->none >> from & 1) {
                address.none |= bit;
                address.nar &= ~bit;
            } else if (in[k]->nar >> from & 1 && !((address.none | address.nar) & bit)) {
                address.nar |= bit;
                address.why[lane] = in[k]->why[from];
            }
        }
        address.put(lane, sum);
    }
}

void Model::load(const Issue& issue) {
    counters.stations = std::max(counters.stations, ++scope->loads);
    if (scope->loads > program.member.stations)
        fail(Fault::stations,
             count_of(scope->loads, "load") + " in flight, for " + count_of(program.member.stations, "station"));
    Value* made = take();
    if (uint32_t address; scalar_address(issue, issue.count, address)) [[likely]]
        return later(issue, made, issue.delay, false, State::at_address, address);
    address_of(issue, issue.count, second);
    if (second.lanes_log) {
        if (second.lanes_log != issue.lanes_log)
            fail(Fault::operands, "it states another number of lanes than its addresses have");
        made->copy(second);
        return later(issue, made, issue.delay, false, State::by_lane);
    }
    made->shape(issue.op == Op::op_load ? issue.width : 2u, issue.lanes_log);
    if (second.none)
        made->make_none();
    else
        made->make_nar(second.why[0]);
    later(issue, made, issue.delay, false, State::told);
}

bool Model::load_lane(const Issue& issue, Value& made, unsigned lane, uint32_t address) {
    const unsigned size = 1u << issue.width;
    const uint8_t* found = memory.at(address, size);
    if (!found) return false;
    if (issue.op == Op::op_load) {
        std::memcpy(made.data + (lane << made.width), found, size);
        return true;
    }
    uint32_t word = 0;
    std::memcpy(&word, found, size);
    const unsigned unused = 32 - 8 * size;
    made.put(lane, issue.op == Op::op_loads ? uint32_t(int32_t(word << unused) >> unused) : word);
    return true;
}

// Memory as it is when the load drops; a store of this bundle comes after it.
void Model::sample(const Due& due) {
    const Issue& issue = *due.issue;
    Value& made = *due.value;
    if (due.state == State::at_address && issue.op == Op::op_load && !issue.lanes_log) [[likely]] {
        made.shape(issue.width, 0);
        if (const uint8_t* found = memory.at(due.address, 1u << issue.width)) [[likely]]
            made.read(found);
        else
            made.make_nar(reason(Cause::outside, frame->bundle - program.routines[frame->routine].first));
    } else if (due.state != State::told) {
        const bool by_lane = due.state == State::by_lane;
        if (by_lane) second.copy(made);
        made.shape(issue.op == Op::op_load ? issue.width : 2u, issue.lanes_log);
        if (by_lane) {
            made.none = second.none;
            made.nar = second.nar;
            if (made.nar) std::memcpy(made.why, second.why, 4 * made.lanes());
        }
        for (unsigned lane = 0; lane < made.lanes(); ++lane) {
            const u128 bit = u128(1) << lane;
            if ((made.none | made.nar) & bit) continue;
            if (load_lane(issue, made, lane, by_lane ? word_of(second, lane) : due.address + (lane << issue.width)))
                continue;
            made.nar |= bit;
            made.why[lane] = reason(Cause::outside, frame->bundle - program.routines[frame->routine].first);
        }
    }
    if (options.most_events) [[unlikely]] {
        if (due.state == State::at_address) touched.assign(1, due.address);
        for (unsigned lane = 0; due.state == State::by_lane && lane < second.lanes(); ++lane)
            touched.push_back(word_of(second, lane));
        note(issue, made);
    }
}

void Model::store(const Issue& issue) {
    const Value& value = operand(issue, issue.count - 1u);
    uint32_t to;
    if (scalar_address(issue, issue.count - 1u, to)) [[likely]] {
        second.shape(2, 0);
        second.put(0, to);
    } else {
        address_of(issue, issue.count - 1u, second);
    }
    if (!value.has_shape()) return;
    if (value.width < issue.width) fail(Fault::operands, "its value is narrower than it states");
    if (second.lanes_log && second.lanes_log != value.lanes_log)
        fail(Fault::operands, "its value has another number of lanes than its addresses");
    for (unsigned lane = 0; lane < value.lanes(); ++lane) store_lane(issue, value, lane, second);
    if (options.most_events) [[unlikely]] {
        for (unsigned lane = 0; lane < second.lanes(); ++lane)
            if (!(second.none >> lane & 1)) touched.push_back(word_of(second, lane));
        note(issue, value);
    }
}

void Model::store_lane(const Issue& issue, const Value& value, unsigned lane, const Value& address) {
    const unsigned at = address.lanes_log ? lane : 0;
    if ((address.none >> at | value.none >> lane) & 1) return;
    if (address.nar >> at & 1) fail(Fault::nar, "its address is not a result: " + origin(address.why[at]));
    if (value.nar >> lane & 1) fail(Fault::nar, "its value is not a result: " + origin(value.why[lane]));
    const uint32_t to = word_of(address, at) + (address.lanes_log ? 0 : lane << issue.width);
    uint8_t* found = memory.writable(to, 1u << issue.width);
    if (!found)
        fail(Fault::store, "it stores " + count_of(1u << issue.width, "byte") + " at " + hexadecimal(to) +
                               (memory.at(to, 1u << issue.width) ? ", in constant data" : ", outside of every array"));
    std::memcpy(found, value.data + (lane << value.width), 1u << issue.width);
}

// Whether a call or a transfer does, by its predicate.
bool Model::happens(const Issue& issue) const {
    if (!has_predicate(issue.op)) return true;
    const Value& predicate = operand(issue, 0);
    if (predicate.lanes_log) fail(Fault::operands, "its predicate is a vector");
    if (predicate.none) return false;
    if (predicate.nar) fail(Fault::nar, "its predicate is not a result: " + origin(predicate.why[0]));
    return predicate.low_bit(0) != one_of(issue.op, Op::op_brfl, Op::op_leavefl);
}

// True where the callee is entered.
bool Model::call(const Issue& issue) {
    const Routine& callee = program.routines[issue.target];
    if (happens(issue)) {
        if (issue.items != callee.parameters.size())
            fail(Fault::operands, "it gives " + count_of(issue.items, "operand") + ", but the routine has " +
                                      count_of(long(callee.parameters.size()), "parameter"));
        ++taken[size_t(&issue - program.issues.data())];
        gather(issue);
        enter(issue.target);
        put(*scope);
        return true;
    }
    for (size_t k = callee.results.size(); k--;) {
        Value* none = take();
        none->shape(callee.results[k].width, callee.results[k].lanes_log);
        none->make_none();
        frame->returned.push_back(
            {uint32_t(1u << 16 | issue.slot << 8 | (callee.results.size() - 1 - k)), State::computed, 0, none, &issue});
    }
    return false;
}

// The list is gathered.
Model::Ended Model::go(const Issue& issue) {
    ++taken[size_t(&issue - program.issues.data())];
    if (issue.op == Op::op_retn) return give_back(issue);
    const bool leaves = one_of(issue.op, Op::op_leave, Op::op_leavetr, Op::op_leavefl);
    if (leaves && frame->open == 1) fail(Fault::control, "no loop was entered that it could leave");
    if (leaves)
        close_scope();
    else if (issue.op == Op::op_inner)
        open_scope();
    else
        empty(*scope);
    put(*scope);
    frame->bundle = program.routines[frame->routine].first + issue.target;
    return Ended::next;
}

Model::Ended Model::give_back(const Issue& issue) {
    const Routine& routine = program.routines[frame->routine];
    if (issue.items != routine.results.size())
        fail(Fault::operands, "it returns " + count_of(issue.items, "operand") + ", but the routine has " +
                                  count_of(long(routine.results.size()), "result"));
    if (depth == 1) {
        for (Value* value : listed) results.push_back(*value);
        return Ended::done;
    }
    while (frame->open) close_scope();
    frame = frames[--depth - 1].get();
    scope = frame->scopes[frame->open - 1].get();
    const Issue& caller = of_phase(program.bundles[frame->bundle], Phase::K)[frame->calls - 1];
    for (uint32_t n = 0; !listed.empty(); ++n) {
        frame->returned.push_back(
            {1u << 16 | uint32_t(caller.slot) << 8 | n, State::computed, 0, listed.back(), &caller});
        listed.pop_back();
    }
    return Ended::returned;
}

}  // namespace polyloom::belt
