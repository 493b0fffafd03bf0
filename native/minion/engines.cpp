// SPDX-License-Identifier: Apache-2.0
// Loads in time: an engine asks for one line after another, each an event, so that the shires' ports see all requests
// in the order of (cycle, minion). The lines of a LoadB go to the steps of its FMA as these use them. Source:
// minion.md, "Time".
#include <algorithm>
#include <bit>

#include "chip.hpp"
#include "state.hpp"
#include "tensor.hpp"

namespace polyloom::minion {

namespace {

constexpr unsigned CLASS_BITS = 8;

constexpr Traffic use_of(Class c) {
    switch (c) {
        case Class::load: return Traffic::load;
        case Class::load_b: return Traffic::load_b;
        case Class::store: return Traffic::store;
        default: return Traffic::load_l2;
    }
}

}  // namespace

// What an event is about: a class, and which of its operations, because one may be dropped.
uint64_t Chip::tag(const Operation& op, Class c) { return uint64_t(op.sequence) << CLASS_BITS | unsigned(c); }

void Chip::on_operation(const Event& event) {
    const uint32_t minion = hart_of(event.key) / 2;
    const Class c = Class(event.data & ((1u << CLASS_BITS) - 1));
    const Operation& op = units[minion][c];
    if (!op.busy || op.sequence != event.data >> CLASS_BITS) return;
    if (EventKind(event.kind) == EventKind::complete) return complete(minion, c);
    if (c != Class::load_b && units[minion].lines[unsigned(c)].count == 0) return complete(minion, c);
    ask_line(minion, c);
}

// Brings what a later event will look at nearer to the host's processor: in two steps, the second of which needs the
// first's.
void Chip::prefetch(const Event& event, bool second) const {
    const uint32_t number = hart_of(event.key);
    if (EventKind(event.kind) == EventKind::hart) return __builtin_prefetch(harts[number]);
    if (EventKind(event.kind) == EventKind::credit) return;
    const Unit& unit = units[number / 2];
    const auto c = Class(event.data & ((1u << CLASS_BITS) - 1));
    const Lines& lines = unit.lines[unsigned(c)];
    if (second) {
        __builtin_prefetch(&lines.address[lines.next % lines.address.size()]);
        if (c == Class::load_b) __builtin_prefetch(&unit.stream.step[unit.stream.known % 16]);
        return;
    }
    __builtin_prefetch(&unit[c]);
    __builtin_prefetch(&lines);
    if (c == Class::load_b) __builtin_prefetch(&unit.stream), __builtin_prefetch(&unit.stream.arrival[8]);
}

void Chip::begin_load(uint32_t minion, Class c) {
    Unit& unit = units[minion];
    Operation& op = unit[c];
    if (!options.timed) {
        op.busy = false;
        return;
    }
    uint64_t from = op.accepted;
    if (c == Class::load_l2_0 || c == Class::load_l2_1) from = std::max(from, unit.load_free);
    Lines& lines = unit.lines[unsigned(c)];
    op.started = from, lines.arrival = from + parameters[Parameter::load_least];
    if (c == Class::load_l2_0 || c == Class::load_l2_1)
        unit.load_free =
            from + std::max(parameters[Parameter::load_least], lines.count * parameters[Parameter::load_line]);
    if (c == Class::load_b)
        ask_stream(minion);
    else if (lines.count == 0)
        post(from + 1, op.hart, EventKind::complete, tag(op, c));
    else
        post(from, op.hart, EventKind::line, tag(op, c));
}

// Cycles of a row of a store: one for each register.
uint64_t Chip::store_pace(const Operation& op) {
    return parameters[Parameter::store_row] * (tensor::store(op.value, op.x31).bytes > 32 ? 2 : 1);
}

// The memory system's answer; the port is busy with the line once those before it have passed.
Served Chip::serve(uint32_t minion, uint64_t address, Class c) {
    const Served served = fabric.line(cycle(), minion, address, use_of(c));
    trace_line(minion, address, served, units[minion][c].pc);
    return served;
}

// Spans of a line: its bank in the shire, and its memory shire, PA[8:6], where it comes from DRAM or goes there.
void Chip::trace_line(uint32_t minion, uint64_t address, const Served& served, uint64_t pc) {
    if (!options.trace || !options.timed) return;
    const uint32_t track = 2 + CLASSES + uint32_t(address >> 6 & 3), shire = minion / MINIONS_PER_SHIRE;
    const uint64_t from = served.there - std::min(served.there, served.latency);
    spans.add({from, from + parameters[Parameter::bank_line], shire, track, address, pc});
    if (!served.dram) return;
    const uint32_t memory = uint32_t(address >> 6 & (MEMORY_SHIRES - 1));
    const uint64_t time = LINE * MEMORY_SHIRES / std::max<uint64_t>(parameters[Parameter::mesh_dram], 1);
    // A memory shire serves one line after another.
    const uint64_t begin = std::max(from, memory_traced[memory]);
    memory_traced[memory] = begin + time;
    spans.add({begin, begin + time, memory, Timeline::MEMORY, address, pc});
}

// A line is asked for, of a load or a store. Minions that load together ask once, when all of them have come to it.
void Chip::ask_line(uint32_t minion, Class c) {
    Unit& unit = units[minion];
    const Operation& op = unit[c];
    Lines& lines = unit.lines[unsigned(c)];
    const uint64_t address = lines.address[lines.next % lines.address.size()];
    if (!op.members) return take_line(minion, c, serve(minion, address, c));
    const uint32_t first = minion / MINIONS_PER_SHIRE * MINIONS_PER_SHIRE;
    uint32_t& joined = groups[minion / MINIONS_PER_SHIRE][op.group][c == Class::load_b];
    joined |= uint32_t(1) << (minion - first);
    if (joined != op.members) return;
    joined = 0;
    const Served served = serve(minion, address, c);
    for (uint32_t rest = op.members; rest; rest &= rest - 1) {
        const uint32_t member = first + uint32_t(std::countr_zero(rest));
        if (units[member].busy(c)) take_line(member, c, served);
    }
}

void Chip::take_line(uint32_t minion, Class c, const Served& served) {
    ++units[minion].lines[unsigned(c)].next;
    if (c == Class::load_b) return stream_line(minion, served);
    next_line(minion, c, served);
}

// Cycles from a line of a load to the next: those of DRAM come the slower the more of them a load has asked for. Fitted
// to loads of 1, 4, 8 and 16 lines.
uint64_t Chip::load_pace(unsigned line, bool dram) {
    if (!dram) return parameters[Parameter::load_line];
    const uint64_t start = line ? 0 : parameters[Parameter::load_dram_start];
    if (line < 4) return start + parameters[Parameter::load_dram_first];
    return parameters[line < 8 ? Parameter::load_dram_more : Parameter::load_dram_line];
}

// A line that a port served late ends the operation later by as much.
void Chip::next_line(uint32_t minion, Class c, const Served& served) {
    Unit& unit = units[minion];
    Operation& op = unit[c];
    Lines& lines = unit.lines[unsigned(c)];
    uint64_t pace = load_pace(lines.next - 1u, served.dram);
    uint64_t there = served.there - served.latency + pace;
    if (c == Class::store) pace = store_pace(op), there = served.there;
    lines.arrival = std::max(lines.arrival, there);
    if (lines.next < lines.count) return post(cycle() + pace, op.hart, EventKind::line, tag(op, c));
    post(std::max(lines.arrival, cycle() + 1), op.hart, EventKind::complete, tag(op, c));
}

// --- B ---------------------------------------------------------------------------------------------------------------

void Chip::begin_stream(uint32_t minion, unsigned lines) {
    Unit& unit = units[minion];
    unit.before = unit.stream;
    unit.stream = {};
    unit.stream.lines = uint8_t(lines), unit.stream.live = true;
}

// A LoadB that no FMA will consume any more: by a younger one, or by an FMA that is not its own.
void Chip::drop_stream(uint32_t minion) {
    Unit& unit = units[minion];
    unit.stream = {};
    unit[Class::load_b].busy = false;
    hazards.cancelled(minion);
    wake_minion(minion);
}

// When the next line of B may be asked for: what is there and not used yet must leave room for it.
void Chip::ask_stream(uint32_t minion) {
    Unit& unit = units[minion];
    Stream& s = unit.stream;
    const unsigned j = s.known, ahead = unsigned(parameters[Parameter::tenb_ahead]),
                   credits = unsigned(parameters[Parameter::tenb_credits]);
    if (j >= s.lines) return;
    if (!s.running && j >= ahead) return;
    uint64_t at = std::max(cycle(), s.next);
    if (s.running && j >= credits) at = std::max(at, s.step[j - credits]);
    const int before = int(unit.before.lines + j) - int(credits);
    if (unit.before.running && j < credits && before >= 0 && before < int(unit.before.lines))
        at = std::max(at, unit.before.step[unsigned(before)]);
    s.asked = true;
    const Operation& op = unit[Class::load_b];
    post(at, op.hart, EventKind::line, tag(op, Class::load_b));
}

void Chip::stream_line(uint32_t minion, const Served& served) {
    Stream& s = units[minion].stream;
    const Operation& op = units[minion][Class::load_b];
    const unsigned j = s.known++;
    s.arrival[j] = std::max(served.there, j ? s.arrival[j - 1] : 0);
    s.next = cycle() + load_pace(j, served.dram);
    s.asked = false;
    if (s.running) use_line(minion, s, j);
    if (s.known == s.lines) return post(s.arrival[j], op.hart, EventKind::complete, tag(op, Class::load_b));
    ask_stream(minion);
}

// Its FMA begins: the lines that are there get their steps, and the others are asked for.
void Chip::run_stream(uint32_t minion, uint64_t total) {
    Unit& unit = units[minion];
    Stream& s = unit.stream.live ? unit.before : unit.stream;
    s.running = true, s.base = cycle(), s.total = total;
    for (unsigned j = 0; j < s.known; ++j) use_line(minion, s, j);
    if (!s.asked && s.known < s.lines) ask_stream(minion);
}

// Steps are evenly spaced; one whose line comes late delays all that follow.
void Chip::use_line(uint32_t minion, Stream& s, unsigned j) {
    const uint64_t due = s.base + j * s.total / s.lines;
    if (s.arrival[j] > due) {
        units[minion].counts[Unit::TENB_WAITS] += s.arrival[j] - due;
        s.base += s.arrival[j] - due;
    }
    s.step[j] = std::max(due, s.arrival[j]);
    if (j + 1 < s.lines) return;
    const Operation& fma = units[minion][Class::fma];
    post(s.base + s.total, fma.hart, EventKind::complete, tag(fma, Class::fma));
}

}  // namespace polyloom::minion
