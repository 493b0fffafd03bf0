// SPDX-License-Identifier: Apache-2.0
// What a run leaves beside memory: counters, what harts waited for, spans of the trace, who is blocked.
#include <algorithm>
#include <iterator>

#include "chip.hpp"

namespace polyloom::minion {

namespace {

// The class of operations that a hart waits for; `count` where that is nothing of the tensor unit.
Class class_of(const Wait& wait) {
    constexpr Class EVENTS[] = {Class::load,  Class::load,   Class::load_l2_0, Class::load_l2_1,
                                Class::count, Class::count,  Class::count,     Class::fma,
                                Class::store, Class::reduce, Class::quant};
    if (wait.kind == Waits::place) return Class(wait.a);
    return wait.kind == Waits::event ? EVENTS[wait.a % std::size(EVENTS)] : Class::count;
}

Stall stall_of(const Wait& wait) {
    if (const Class c = class_of(wait); c != Class::count) return Stall(c);
    switch (wait.kind) {
        case Waits::registers: return Stall::registers;
        case Waits::credit: return Stall::credit;
        case Waits::event: return Stall::cache_operation;
        default: return Stall::interrupt;
    }
}

}  // namespace

// Cycles that a hart has waited, by what for: a class of operations, or what follows them.
void Chip::note_stall(const HartState& h) {
    const bool kind = h.wait.kind != Waits::place && h.wait.kind != Waits::event;
    const unsigned which = kind ? unsigned(h.wait.kind) + STALL_KINDS : unsigned(class_of(h.wait));
    stalls[which] += cycle() - std::min(cycle(), h.wait.since);
    if (Timeline* const line = timeline(h.number)) line->wait(stall_of(h.wait), h.wait.since, cycle(), h.wait.pc);
}

// What harts still do or wait for when the run ends.
void Chip::trace_end() {
    for (Timeline& line : timelines) line.commit();
    for (const HartState* h : harts)
        if (Timeline* const line = timeline(h->number); line && h->wait.kind != Waits::nothing)
            if (h->wait.kind != Waits::ended && h->wait.kind != Waits::disabled)
                line->wait(stall_of(h->wait), h->wait.since, result.cycles, h->wait.pc);
    for (Timeline& line : timelines) lives.push_back(line.end(result.cycles));
}

// Without time: runs of a hart that follow each other are one span.
void Chip::trace_run(uint32_t number, uint64_t from, uint64_t to) {
    Seat& seat = seats[number];
    if (seat.span != Spans::NONE && from <= spans.all[seat.span].end + 1) {
        spans.all[seat.span].end = std::max(spans.all[seat.span].end, to);
        return;
    }
    seat.span = spans.add({from, to, number / 2, number & 1, 0, harts[number]->pc});
}

std::vector<std::pair<std::string, uint64_t>> Chip::counters() const {
    static constexpr std::pair<const char*, unsigned> NAMES[] = {
        {"tensor_load", Unit::TL_INST},          {"tensor_load_lines", Unit::TL_OPS},
        {"tensor_load_l2", Unit::LOAD_L2},       {"tensor_store", Unit::TS_INST},
        {"tensor_store_rows", Unit::TS_OPS},     {"tensor_fma", Unit::TFMA_INST},
        {"tensor_quant", Unit::TQUANT_INST},     {"tensor_reduce", Unit::TREDUCE_INST},
        {"fp32_operations", Unit::TXFMA_32_OPS}, {"fp16_operations", Unit::TXFMA_3216_OPS},
        {"int8_operations", Unit::TIMA_OPS},     {"tenb_waits", Unit::TENB_WAITS},
        {"fma_cycles", Unit::FMA_CYCLES},        {"waits", Unit::WAITS},
        {"message_bytes", Unit::MESSAGE_BYTES}};
    std::vector<std::pair<std::string, uint64_t>> all;
    for (const auto& [name, event] : NAMES) {
        uint64_t sum = 0;
        for (const Unit& unit : units) sum += unit.counts[event];
        all.emplace_back(name, sum);
    }
    all.emplace_back("bytes_shire", fabric.bytes.shire);
    all.emplace_back("bytes_l3", fabric.bytes.l3);
    all.emplace_back("bytes_dram", fabric.bytes.dram);
    static constexpr std::pair<const char*, unsigned> STALLS[] = {
        {"stall_load", unsigned(Class::load)},
        {"stall_load_b", unsigned(Class::load_b)},
        {"stall_fma", unsigned(Class::fma)},
        {"stall_quant", unsigned(Class::quant)},
        {"stall_store", unsigned(Class::store)},
        {"stall_reduce", unsigned(Class::reduce)},
        {"stall_registers", STALL_KINDS + unsigned(Waits::registers)},
        {"stall_credit", STALL_KINDS + unsigned(Waits::credit)}};
    for (const auto& [name, which] : STALLS) all.emplace_back(name, stalls[which]);
    all.emplace_back("stall_load_l2", stalls[unsigned(Class::load_l2_0)] + stalls[unsigned(Class::load_l2_1)]);
    const Fabric::Busy busy = fabric.busy();
    all.emplace_back("busy_bank", busy.bank);
    all.emplace_back("busy_mesh", busy.mesh);
    all.emplace_back("busy_dram", busy.dram);
    // Of the slowest minion: from the start of its first FMA to the end of its last; and until the last minion has
    // begun its first, and ended its last.
    uint64_t longest = 0, begun = 0, ended = 0;
    for (const Unit& unit : units) {
        longest = std::max(longest, unit.last_fma - unit.first_fma);
        begun = std::max(begun, unit.first_fma), ended = std::max(ended, unit.last_fma);
    }
    all.emplace_back("fma_loop_cycles", longest);
    all.emplace_back("fma_begun", begun);
    all.emplace_back("fma_ended", ended);
    return all;
}

// Whether the run has to end with a hazard, although all harts passed: because of barriers that were joined and were
// not full, transfers whose partner never came, and LoadBs that no FMA took.
bool Chip::left_over() {
    if (!hazards_on()) return false;
    for (const ShireState& shire : shires)
        for (unsigned n = 0; n < shire.flb.size(); ++n) hazards.barrier_left(shire.number, n, shire.flb[n]);
    for (uint32_t n = 0; n < units.size(); ++n) {
        const Unit& unit = units[n];
        const Operation& reduce = unit[Class::reduce];
        if (reduce.busy)
            hazards.unfinished(site_of(n, reduce), tensor::name_of(tensor::reduce(reduce.value).command),
                               "its partner has not come", "start both sides of a transfer, and wait for event 9");
        if (unit.stream.live)
            hazards.unfinished(site_of(n, unit[Class::load_b]), "tensor_load_b", "no FMA has taken its lines",
                               "give each LoadB an FMA that takes B from TenB");
    }
    return findings.stop;
}

// Who is blocked, and which operations of tensor units are held.
void Chip::explain() {
    std::vector<Blocked> blocked;
    for (const HartState* h : harts) blocked.push_back({h->number, h->wait});
    std::vector<Held> held;
    constexpr uint8_t EVENTS[CLASSES] = {0, 16, 2, 3, 7, 10, 8, 9};
    for (uint32_t n = 0; n < units.size(); ++n)
        for (unsigned c = 0; c < CLASSES; ++c) {
            const Operation& op = units[n].places[c];
            const uint8_t event = uint8_t(EVENTS[c] + (Class(c) == Class::load && op.id));
            if (op.busy)
                held.push_back({n, event, uint8_t(is_load(Class(c)) || op.running), op.value, op.pc, op.accepted});
        }
    reasons = deadlock.explain(blocked, held);
}

}  // namespace polyloom::minion
