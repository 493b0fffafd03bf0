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
// How many events ahead what they need is fetched.
constexpr size_t FAR = 8, NEAR = 3;
constexpr uint64_t PASS = 0x1feed000, FAIL = 0x50bad000;

// Those that harts know.
Latencies latencies_of(Parameters& parameters, bool timed) {
    // Which of them an instruction uses is not kept: every timed run has branches and code.
    if (timed) (void)parameters[Parameter::branch_taken], (void)parameters[Parameter::instruction_miss];
    const auto value = [&](Parameter which) { return uint8_t(parameters.values[unsigned(which)]); };
    Latencies made;
    made.load = value(Parameter::l1_hit), made.branch = value(Parameter::branch_taken);
    made.instruction_miss = value(Parameter::instruction_miss);
    made.mul_word = value(Parameter::multiply_word), made.mul = value(Parameter::multiply);
    made.div_word = value(Parameter::divide_word), made.div = value(Parameter::divide);
    made.vector_integer = value(Parameter::simd_integer), made.vector_float = value(Parameter::simd_float);
    made.transcendental = value(Parameter::transcendental), made.gather = value(Parameter::gather);
    return made;
}

}  // namespace

Chip::Chip(const Options& options, const Parameters& parameters)
    : options(options), parameters(parameters),
      memory(options.member, options.shires, uint64_t(options.scratchpad_kib) << 10),
      fabric(this->parameters, {options.shires, options.l2_kib, options.l3_kib, options.member == Member::erbium}),
      findings(options.hazards), record(findings, options.minions),
      hazards(findings, record, options.minions, options.errata), deadlock(options.minions), minions(options.minions),
      shires(options.shires), codes(make_codes(options.timed, latencies_of(this->parameters, options.timed))),
      units(options.minions), seats(2 * options.minions),
      pmu((options.minions + MINIONS_PER_NEIGHBOURHOOD - 1) / MINIONS_PER_NEIGHBOURHOOD), setters(2 * options.minions),
      flb_free(options.shires), groups(options.shires), workers(options.threads, options.minions) {
    ahead = AHEAD;
    record.on = hazards_on(), spans.most = options.most_spans;
    for (uint32_t n = 0; (options.trace || options.account) && options.timed && n < seats.size(); ++n)
        timelines.emplace_back(spans, n, options.account ? &account : nullptr, &passed, options.trace);
    for (uint32_t n = 0; n < shires.size(); ++n) shires[n].number = n;
    for (uint32_t n = 0; n < minions.size(); ++n) {
        MinionState& minion = minions[n];
        minion.number = n, minion.shire = &shires[n / MINIONS_PER_SHIRE];
        for (uint32_t thread = 0; thread < 2; ++thread) {
            HartState& hart = minion.hart[thread];
            hart.number = 2 * n + thread, hart.minion = &minion;
            seats[hart.number].core = std::make_unique<Core>(*this, memory, codes, hart);
            harts.push_back(&hart);
        }
    }
}

Chip::~Chip() = default;

void Chip::post(uint64_t cycle, uint32_t hart, EventKind kind, uint64_t data) {
    events.push(cycle, hart, uint8_t(kind), data);
    if (running) running->horizon = std::min(running->horizon, key_of(cycle, hart));
}

// A hart that can run, from a cycle on. Its sibling, if that is running, must let it have its share from then on.
void Chip::queue_hart(uint32_t number, uint64_t cycle) {
    Seat& seat = seats[number];
    if (seat.queued || seat.ended) return;
    HartState& h = *harts[number];
    h.clock = std::max(h.clock, cycle);
    seat.queued = true;
    if (running && running->number == (number ^ 1) && options.timed)
        running->window = std::min(running->window, h.clock + 1);
    post(h.clock, number, EventKind::hart, ++seat.ticket);
}

// The key of the event that is next; those of harts that have been run since are dropped.
uint64_t Chip::next_key() {
    while (events.next() != Events::NONE) {
        const Event& event = events.top();
        if (EventKind(event.kind) != EventKind::hart || current(event)) return event.key;
        events.drop();
    }
    return Events::NONE;
}

bool Chip::current(const Event& event) const {
    const Seat& seat = seats[hart_of(event.key)];
    return seat.queued && seat.ticket == event.data;
}

Answer Chip::turn(HartState& h) { return key_of(h.now, h.number) <= h.horizon ? riscv::DONE : riscv::NOT_YET; }

// The instruction cannot go on, and is tried again when `wake` finds that it can. Where it still cannot, it has waited
// since it was tried first.
Answer Chip::hold(HartState& h, Waits kind, uint32_t a) {
    const Wait& before = seats[h.number].waited;
    h.wait = {kind, a, h.now, h.pc};
    if (before.kind == kind && before.a == a && before.pc == h.pc) h.wait.since = before.since;
    return riscv::NOT_YET;
}

Answer Chip::go(HartState& h) {
    seats[h.number].waited.kind = Waits::nothing;
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
        case Waits::interrupt: return h.trap.mip & h.trap.mie;
        default: return false;
    }
}

void Chip::wake(uint32_t number) {
    HartState& h = *harts[number];
    if (h.wait.kind == Waits::nothing || &h == running || !ready(h)) return;
    note_stall(h);
    seats[number].waited = h.wait, h.wait.kind = Waits::nothing;
    queue_hart(number, cycle());
}

void Chip::wake_minion(uint32_t minion) { wake(2 * minion), wake(2 * minion + 1); }

// A hart that is the first of all runs until it needs its turn again, or is too far ahead. Where its sibling can run as
// well, they alternate.
void Chip::run_hart(uint32_t number) {
    const uint64_t until = std::min(harts[number]->clock + ahead, options.max_cycles);
    std::array<bool, 2> runs{};
    for (const uint32_t n : {number, number ^ 1})
        if (seats[n].queued && (n == number || options.timed)) runs[n & 1] = true, seats[n].queued = false;
    while (true) {
        HartState &h = *harts[number], &other = *harts[number ^ 1];
        h.horizon = next_key(), h.window = until;
        if (runs[~number & 1]) {
            h.horizon = std::min(h.horizon, key_of(other.clock, other.number));
            h.window = std::min(until, std::max(other.clock, h.clock) + 1);
        }
        const riscv::Outcome outcome = run_once(number);
        runs[number & 1] = goes_on(number, outcome);
        if (harts[number ^ 1]->wait.kind == Waits::disabled) runs[~number & 1] = false;
        if (stopped || findings.stop || !(runs[0] || runs[1])) return;
        const bool idle = outcome.executed == 0;
        if (runs[0] && runs[1])
            number = h.clock != other.clock ? (h.clock < other.clock ? number : number ^ 1) : number & ~1u;
        else if (!runs[number & 1])
            number ^= 1;
        const uint64_t clock = harts[number]->clock;
        if (!(runs[0] && runs[1]) || clock >= until || (idle && key_of(clock, number) > next_key())) break;
    }
    for (const uint32_t n : {number & ~1u, number | 1u})
        if (runs[n & 1]) queue_hart(n, harts[n]->clock);
}

riscv::Outcome Chip::run_once(uint32_t number) {
    HartState& h = *harts[number];
    Seat& seat = seats[number];
    running = &h;
    const uint64_t from = h.clock, pc = seat.core->pc();
    const riscv::Outcome outcome = seat.core->run();
    if (ran && outcome.executed) ran->push_back({number, pc, from, outcome.executed});
    running = nullptr;
    seat.executed += outcome.executed;
    if (options.trace && !options.timed && outcome.executed) trace_run(number, from, h.clock);
    return outcome;
}

// Whether the hart can run on, after a run.
bool Chip::goes_on(uint32_t number, const riscv::Outcome& outcome) {
    HartState& h = *harts[number];
    if (h.wait.kind == Waits::ended) {
        seats[number].ended = true;
        --alive;
        last = std::max(last, h.clock);
        return false;
    }
    if (h.wait.kind == Waits::disabled) return false;
    if (outcome.cause == Cause::wait || outcome.cause == Cause::limit) return h.wait.kind == Waits::nothing;
    if (findings.stop) return false;
    result.stop = Stop::trap, result.hart = number, result.pc = outcome.pc, result.value = outcome.value;
    result.word = outcome.word, result.cause = riscv::exception_number(outcome.cause);
    stopped = true;
    return false;
}

// L1 is in another mode: loads that are under way to an L1Scp that is no more end.
void Chip::mode_changed(HartState& h, unsigned before, unsigned after) {
    if (!(before & 2) || (after & 2)) return;
    const uint32_t minion = h.number / 2;
    drop_stream(minion);
    units[minion][Class::load].busy = false;
    wake_minion(minion);
}

void Chip::handle(const Event& event) {
    const uint32_t number = hart_of(event.key);
    switch (EventKind(event.kind)) {
        case EventKind::hart: return current(event) ? run_hart(number) : void();
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

uint64_t Chip::pc(uint32_t hart) const { return seats[hart].core->pc(); }

Result Chip::run(uint64_t entry) {
    start(entry);
    while (advance()) {}
    return finish();
}

void Chip::start(uint64_t entry) {
    for (uint32_t n = 0; n < harts.size(); ++n) seats[n].core->start(entry), queue_hart(n, 0);
    // Erbium starts hart 0 alone, which enables the others (sw-sysemu, esrs_er.cpp).
    if (options.member == Member::erbium) shires[0].thread0_disable = 0xfe, shires[0].thread1_disable = 0xff, enable(0);
    alive = uint32_t(harts.size());
}

// False where nothing is left to do, or something has ended the run.
bool Chip::advance() {
    if (stopped || events.empty()) return false;
    if (cycle_of(events.next()) >= options.max_cycles) {
        result.stop = Stop::max_cycles;
        return false;
    }
    if (const Event* far = events.ahead(FAR)) prefetch(*far, false);
    if (const Event* near = events.ahead(NEAR)) prefetch(*near, true);
    handle(events.pop());
    if (findings.stop) {
        result.stop = Stop::hazard;
        return false;
    }
    return true;
}

// Harts that sleep or are disabled count as ended if all others passed; any other that is left can never run again.
Result Chip::finish() {
    const auto sleeps = [](const HartState* h) {
        return h->wait.kind == Waits::interrupt || h->wait.kind == Waits::disabled;
    };
    if (result.stop == Stop::passed && alive > std::count_if(harts.begin(), harts.end(), sleeps))
        result.stop = Stop::deadlock;
    if (result.stop == Stop::deadlock || result.stop == Stop::failed || result.stop == Stop::max_cycles) explain();
    if (result.stop == Stop::passed && left_over()) result.stop = Stop::hazard;
    if (errors_left() && result.stop == Stop::passed) result.stop = Stop::tensor_error;
    for (const Seat& seat : seats) result.instructions += seat.executed;
    if (result.stop == Stop::max_cycles) where_it_runs();
    // Without an end that the program gave, the time is when the run was stopped.
    const bool ended = result.stop == Stop::passed || result.stop == Stop::failed || result.stop == Stop::tensor_error;
    result.cycles = ended ? last : std::max(last, cycle());
    if (result.stop == Stop::max_cycles) result.cycles = options.max_cycles;
    trace_end();
    return result;
}

// The first hart that has not ended stands for the others.
void Chip::where_it_runs() {
    const auto found = std::find_if(seats.begin(), seats.end(), [](const Seat& seat) { return !seat.ended; });
    if (found == seats.end()) return;
    result.hart = uint32_t(found - seats.begin());
    result.pc = found->core->pc();
}

}  // namespace polyloom::minion
