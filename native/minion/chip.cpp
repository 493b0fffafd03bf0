// SPDX-License-Identifier: Apache-2.0
#include "chip.hpp"

#include <algorithm>

#include "core.hpp"
#include "state.hpp"

namespace polyloom::minion {

namespace {

using riscv::Cause;

// How far a hart runs ahead of the slowest that can run. Source: minion.md, "Many minions".
constexpr uint64_t AHEAD = 1000;
constexpr uint64_t PASS = 0x1feed000, FAIL = 0x50bad000;

}  // namespace

void Chip::post(uint64_t cycle, uint32_t hart, EventKind kind, uint64_t data) {
    events.push(cycle, hart, uint8_t(kind), data);
    if (running) running->horizon = std::min(running->horizon, key_of(std::max(cycle, events.cycle()), hart));
}

void Chip::queue_hart(uint32_t number, uint64_t cycle) {
    Seat& seat = seats[number];
    if (seat.queued || seat.ended) return;
    seat.queued = true;
    post(cycle, number, EventKind::hart);
}

Answer Chip::turn(HartState& h) { return key_of(h.now, h.number) <= h.horizon ? riscv::DONE : riscv::NOT_YET; }

// The instruction cannot go on, and is tried again when `wake` finds that it can.
Answer Chip::hold(HartState& h, Waits kind, uint32_t a) {
    if (h.wait.kind == Waits::nothing) h.wait = {kind, a, h.now, h.pc};
    return riscv::NOT_YET;
}

Answer Chip::go(HartState& h) {
    h.wait = {};
    return riscv::DONE;
}

bool Chip::ready(const HartState& h) const {
    const Unit& unit = units[h.number / 2];
    switch (h.wait.kind) {
        case Waits::nothing: return true;
        case Waits::place: return !unit.busy(Class(h.wait.a));
        case Waits::event: return !pending(h, h.wait.a);
        case Waits::registers: return !unit.holds_registers();
        case Waits::credit: return h.credits[h.wait.a] != 0;
        case Waits::interrupt: return false;
        default: return false;
    }
}

void Chip::wake(uint32_t number) {
    HartState& h = *harts[number];
    if (h.wait.kind != Waits::nothing && &h != running && ready(h)) queue_hart(number, events.cycle());
}

void Chip::wake_minion(uint32_t minion) { wake(2 * minion), wake(2 * minion + 1); }

// A hart that is the first of all runs until it needs its turn again, or is too far ahead.
void Chip::run_hart(uint32_t number, uint64_t cycle) {
    HartState& h = *harts[number];
    Seat& seat = seats[number];
    seat.queued = false;
    if (h.clock < cycle) {
        if (!options.timed) h.skew += cycle - h.clock;
        h.clock = cycle;
    }
    const Seat& other = seats[number ^ 1];
    h.horizon = events.next();
    h.window = h.clock + AHEAD;
    if (options.timed && other.queued) h.window = std::min(h.window, std::max(harts[number ^ 1]->clock, h.clock) + 1);
    running = &h;
    const riscv::Outcome outcome = seat.core->run();
    running = nullptr;
    seat.executed += outcome.executed;
    after_run(number, outcome);
}

void Chip::after_run(uint32_t number, const riscv::Outcome& outcome) {
    HartState& h = *harts[number];
    if (h.wait.kind == Waits::ended) {
        seats[number].ended = true;
        --alive;
        last = std::max(last, h.clock);
        return;
    }
    if (outcome.cause == Cause::wait || outcome.cause == Cause::limit) {
        if (h.wait.kind == Waits::nothing) queue_hart(number, h.clock);
        return;
    }
    result.stop = Stop::trap, result.hart = number, result.pc = outcome.pc, result.value = outcome.value;
    result.word = outcome.word, result.cause = riscv::exception_number(outcome.cause);
    stopped = true;
}

void Chip::handle(const Event& event) {
    const uint32_t number = hart_of(event.key);
    switch (EventKind(event.kind)) {
        case EventKind::hart: return run_hart(number, cycle_of(event.key));
        case EventKind::credit: return arrive_credits(event);
        default: return on_operation(event);
    }
}

Answer Chip::validation(HartState& h, unsigned number, uint64_t value) {
    if (const Answer answer = turn(h); answer.kind != Answer::done) return answer;
    if (number == 1 && value >> 56 == 1) printed.push_back(char(value));
    if (number != 0 || (value != PASS && value != FAIL)) return riscv::DONE;
    if (value == FAIL && result.stop == Stop::passed)
        result.stop = Stop::failed, result.hart = h.number, result.pc = h.pc, result.value = value;
    h.wait = {Waits::ended, 0, h.now, h.pc};
    return riscv::leave(Cause::exit);
}

Result Chip::run(uint64_t entry) {
    for (uint32_t n = 0; n < harts.size(); ++n) seats[n].core->start(entry), queue_hart(n, 0);
    alive = uint32_t(harts.size());
    while (!stopped && !events.empty()) {
        if (cycle_of(events.next()) >= options.max_cycles) {
            result.stop = Stop::max_cycles;
            break;
        }
        handle(events.pop());
    }
    return finish();
}

// Harts that sleep count as ended if all others passed; any other that is left can never run again.
Result Chip::finish() {
    const auto sleeps = [](const HartState* h) { return h->wait.kind == Waits::interrupt; };
    if (result.stop == Stop::passed && alive > std::count_if(harts.begin(), harts.end(), sleeps))
        result.stop = Stop::deadlock;
    for (const Seat& seat : seats) result.instructions += seat.executed;
    result.cycles = last;
    return result;
}

}  // namespace polyloom::minion
