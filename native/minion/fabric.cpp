// SPDX-License-Identifier: Apache-2.0
// The way of a line: own scratchpad or L2, the home's scratchpad or L3 slice over the mesh, a memory shire.
#include "fabric.hpp"

#include <algorithm>

namespace polyloom::minion {

namespace {

constexpr unsigned MINIONS_OF_SHIRE = 32, SCRATCHPAD_BITS = 23, LINE_BYTES = 64;
constexpr uint64_t DRAM_FROM = 0x8000000000, DRAM_TO = 0x8800000000;

constexpr uint64_t bits(uint64_t word, unsigned low, unsigned width) {
    return word >> low & ((uint64_t(1) << width) - 1);
}

constexpr unsigned LOCAL_TO_HOME = unsigned(Traffic::home_load) - unsigned(Traffic::local_load);

constexpr bool is_store(Traffic use) { return use == Traffic::store || use == Traffic::cache; }

}  // namespace

Tags::Found Tags::use(uint64_t set, uint64_t line) {
    Entry* const first = at(set);
    unsigned way = 0;
    while (way < WAYS - 1 && first[way].line != line + 1) ++way;
    const Entry before = first[way];
    const bool hit = before.line == line + 1;
    for (; way > 0; --way) first[way] = first[way - 1];
    first[0] = hit ? before : Entry{line + 1, 0, false};
    return {hit, before, first};
}

void Tags::drop(uint64_t set, uint64_t line) {
    if (!sets) return;
    Entry* const first = at(set);
    for (unsigned way = 0; way < WAYS; ++way)
        if (first[way].line == line + 1) first[way] = {};
}

Fabric::Times::Times(const Parameters& parameters) {
    const auto value = [&](Parameter which) { return uint64_t(parameters.values[unsigned(which)]); };
    // A line's time at a rate of bytes a cycle.
    const auto service = [&](Parameter rate) {
        return uint64_t(double(LINE_BYTES * Server::PARTS) / std::max(parameters.values[unsigned(rate)], 1.0));
    };
    bank_service = value(Parameter::bank_line) * Server::PARTS;
    buffered_service = value(Parameter::bank_buffered) * Server::PARTS;
    mesh_service = service(Parameter::mesh_shire);
    memory = {service(Parameter::mesh_dram),   service(Parameter::dram_shire),
              value(Parameter::dram_open_row), value(Parameter::dram_other_row),
              value(Parameter::dram_row_busy), std::max<uint64_t>(value(Parameter::refresh_period), MEMORY_SHIRES),
              value(Parameter::refresh)};
    local_atomic = value(Parameter::local_atomic) * Server::PARTS;
    home_atomic = value(Parameter::home_atomic) * Server::PARTS;
    l2 = value(Parameter::l2), l2_buffered = value(Parameter::l2_buffered), l3 = value(Parameter::l3);
    hop = value(Parameter::hop), dram = value(Parameter::dram), mram = value(Parameter::mram),
    code = value(Parameter::instruction_miss);
    store = value(Parameter::bank_line);
    buffer = unsigned(std::min<uint64_t>(value(Parameter::bank_buffer), Bank::MOST));
}

Fabric::Fabric(Parameters& parameters, Split split)
    : parameters(&parameters), split(split), times(parameters), shires(SHIRES) {}

void Fabric::uses(std::initializer_list<Parameter> which) const {
    for (const Parameter each : which) parameters->used |= uint64_t(1) << unsigned(each);
}

Fabric::Shire& Fabric::shire(unsigned number) {
    auto& made = shires[number % SHIRES];
    if (!made) made = std::make_unique<Shire>(split);
    return *made;
}

Fabric::Busy Fabric::busy() const {
    Busy most{0, 0, memory_shires.busy()};
    for (const auto& each : shires) {
        if (!each) continue;
        most.mesh = std::max(most.mesh, each->port.busy / Server::PARTS);
        for (const Bank& bank : each->banks) most.bank = std::max(most.bank, bank.server.busy / Server::PARTS);
    }
    return most;
}

// A bank takes a line every second cycle, and every cycle one that it has read lately. Whether that is so.
bool Fabric::pass(Way& way, Bank& bank, uint64_t line, bool store) {
    uses({Parameter::bank_line, Parameter::bank_buffered, Parameter::bank_buffer});
    auto* const end = bank.buffer.begin() + times.buffer;
    auto* const found = std::find(bank.buffer.begin(), end, line + 1);
    const bool buffered = found != end && !store;
    way.at(bank.server, buffered ? times.buffered_service : times.bank_service);
    if (store) {
        if (found != end) *found = 0;
    } else if (times.buffer) {
        std::copy_backward(bank.buffer.begin(), found == end ? end - 1 : found, found == end ? end : found + 1);
        bank.buffer[0] = line + 1;
    }
    bytes.shire += LINE_BYTES;
    return buffered;
}

Served Fabric::served(const Way& way, uint64_t latency, bool dram) const {
    return {way.cycle + (way.wait + Server::PARTS - 1) / Server::PARTS + latency, latency, dram};
}

// A bank that reads, modifies and writes a line for an atomic serves no other line meanwhile.
void Fabric::modify(Way& way, Bank& bank, uint64_t line, Parameter which, uint64_t service) {
    uses({which});
    way.at(bank.server, service);
    std::replace(bank.buffer.begin(), bank.buffer.end(), line + 1, uint64_t(0));
    bytes.shire += LINE_BYTES;
}

// From the shire's own SRAM.
uint64_t Fabric::near(bool buffered) const {
    uses({buffered ? Parameter::l2_buffered : Parameter::l2});
    return buffered ? times.l2_buffered : times.l2;
}

Served Fabric::line(uint64_t cycle, unsigned minion, uint64_t address, Traffic use) {
    Way way{cycle};
    const unsigned own = minion / MINIONS_OF_SHIRE;
    if (split.alone) return alone(way, address, use);
    if (use == Traffic::code) {
        (void)pass(way, shire(own).banks[bits(address, 6, 2)], address / LINE_BYTES, false);
        uses({Parameter::instruction_miss});
        return served(way, times.code);
    }
    if (use >= Traffic::home_load) return at_home(way, own, address, use);
    if (use >= Traffic::local_load) return local(way, own, address, use);
    if (address < DRAM_FROM) return scratchpad(way, own, address, is_store(use));
    return memory(way, own, address, use);
}

// Four banks before MRAM, as a shire has; nothing is known of its time.
Served Fabric::alone(Way& way, uint64_t address, Traffic use) {
    const uint64_t line = address / LINE_BYTES;
    Bank& bank = shire(0).banks[bits(line, 0, 2)];
    const bool store = is_store(use) || use == Traffic::local_store || use == Traffic::home_store;
    uses({Parameter::mram});
    if (use == Traffic::local_atomic || use == Traffic::home_atomic)
        modify(way, bank, line, Parameter::local_atomic, times.local_atomic);
    else
        (void)pass(way, bank, line, store);
    return served(way, store ? times.store : times.mram);
}

// In the shire's L2, where a line of DRAM comes first, or in its scratchpad; what has no copy there acts at its home.
Served Fabric::local(Way& way, unsigned own, uint64_t address, Traffic use) {
    const uint64_t line = address / LINE_BYTES;
    const bool in_scratchpad = address < DRAM_FROM, atomic = use == Traffic::local_atomic;
    const bool near =
        in_scratchpad ? bits(address, SCRATCHPAD_BITS, 7) % SHIRES == own : address < DRAM_TO && !shire(own).l2.empty();
    if (!near) return at_home(way, own, address, Traffic(unsigned(use) + LOCAL_TO_HOME));
    if (atomic) modify(way, shire(own).banks[bits(line, 0, 2)], line, Parameter::local_atomic, times.local_atomic);
    if (in_scratchpad) return scratchpad(way, own, address, use == Traffic::local_store);
    return memory(way, own, address, Traffic::scalar);
}

// At the line's home: the bank of its scratchpad, or of L3. The way is over the mesh from the home's own shire, too.
Served Fabric::at_home(Way& way, unsigned own, uint64_t address, Traffic use) {
    const uint64_t line = address / LINE_BYTES;
    const bool in_scratchpad = address < DRAM_FROM, store = use == Traffic::home_store;
    const unsigned home = in_scratchpad ? unsigned(bits(address, SCRATCHPAD_BITS, 7)) % SHIRES : l3_home(line);
    Bank& bank = in_scratchpad ? shire(home).banks[bits(line, 0, 2)] : l3_bank(line);
    if (use == Traffic::home_atomic)
        modify(way, bank, line, Parameter::home_atomic, times.home_atomic);
    else
        (void)pass(way, bank, line, store);
    if (!in_scratchpad) return in_l3(way, own, home, line, store);
    const uint64_t round = over_mesh(way, own, home, store);
    return served(way, store ? round / 2 : round);
}

Served Fabric::scratchpad(Way& way, unsigned own, uint64_t address, bool store) {
    const unsigned home = unsigned(bits(address, SCRATCHPAD_BITS, 7)) % SHIRES;
    Bank& bank = shire(home).banks[bits(address, 6, 2)];
    const bool buffered = pass(way, bank, address / LINE_BYTES, store);
    if (home == own) return served(way, store ? times.store : near(buffered));
    const uint64_t round = over_mesh(way, own, home, store);
    return served(way, store ? round / 2 : round);
}

// DRAM's lines through L2, which stores skip, and the home's L3.
Served Fabric::memory(Way& way, unsigned own, uint64_t address, Traffic use) {
    const uint64_t line = address / LINE_BYTES;
    Shire& here = shire(own);
    if (here.l2.empty() || address >= DRAM_TO) return l3(way, own, line, is_store(use));
    if (is_store(use)) {
        here.l2.drop(line, line);
        return l3(way, own, line, true);
    }
    const bool buffered = pass(way, here.banks[bits(line, 0, 2)], line, false);
    const Tags::Found found = here.l2.use(line, line);
    if (!found.hit) {
        const Served made = l3(way, own, line, false);
        found.now->there = made.there;
        return made;
    }
    Served made = served(way, near(buffered));
    made.there = std::max<uint64_t>(made.there, found.now->there);
    return made;
}

Served Fabric::l3(Way& way, unsigned own, uint64_t line, bool store) {
    (void)pass(way, l3_bank(line), line, store);
    return in_l3(way, own, l3_home(line), line, store);
}

// What has passed the bank of its home.
Served Fabric::in_l3(Way& way, unsigned own, unsigned home, uint64_t line, bool store) {
    Shire& there = shire(home);
    const uint64_t near = over_mesh(way, own, home, store);
    if (there.l3.empty()) return from_memory(way, near, home, line, store);
    const Tags::Found found = there.l3.use(bits(line, 7, 40) << 2 | bits(line, 5, 2), line);
    if (!found.hit && found.before.dirty) {
        Way back{way.cycle};
        take_dram(back, found.before.line - 1);
    }
    if (store) {
        found.now->dirty = true;
        return served(way, near / 2);
    }
    Served made = found.hit ? served(way, near) : from_memory(way, near, home, line, false);
    if (found.hit)
        made.there = std::max<uint64_t>(made.there, found.now->there);
    else
        found.now->there = made.there;
    return made;
}

// There and back, without what serves at the other end.
uint64_t Fabric::over_mesh(Way& way, unsigned own, unsigned home, bool store) {
    if (home != own) {
        way.at(shire(store ? home : own).port, times.mesh_service);
        bytes.l3 += LINE_BYTES;
    }
    uses({Parameter::l3, Parameter::hop, Parameter::mesh_shire});
    return times.l3 + times.hop * hops(own, home);
}

// A line from or to its memory shire. How much later the state of its row makes it.
int64_t Fabric::take_dram(Way& way, uint64_t line) {
    uses({Parameter::mesh_dram, Parameter::dram_shire, Parameter::dram_open_row, Parameter::dram_other_row,
          Parameter::dram_row_busy, Parameter::refresh_period, Parameter::refresh});
    bytes.dram += LINE_BYTES;
    const Dram::Taken taken = memory_shires.take(times.memory, way.cycle, line);
    way.at(taken.wait);
    return taken.row;
}

Served Fabric::from_memory(Way& way, uint64_t near, unsigned home, uint64_t line, bool store) {
    const int64_t row = take_dram(way, line);
    if (store) return served(way, near / 2, true);
    const unsigned far = distance(PLACES[home % SHIRES], place_of_memory(unsigned(bits(line, 0, 3))));
    uses({Parameter::dram});
    return served(way, near + times.dram + times.hop * far + uint64_t(row), true);
}

}  // namespace polyloom::minion
