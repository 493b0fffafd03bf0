// SPDX-License-Identifier: Apache-2.0
// Data on their way: the scalar unit's, unpackers' and packers' turns at L1 at the end of a cycle, and rows of Dst that
// the matrix unit has written and SFPLOAD does not see yet. Sources: facts 1.2.1, 1.8; the public pages on UNPACR, L1
// and Dst; tensix.md, "Machine".
#include <algorithm>
#include <cstring>

#include "tile.hpp"

namespace polyloom::tensix {

namespace {

constexpr uint64_t SEEN_BY_LOADS = 4;  // cycles from the matrix unit's instruction to an SFPLOAD of its rows
constexpr uint64_t SETUP = 2;          // cycles in which an unpacker computes an address

// Lines per cycle that unpackers 0 and 1 get, of what they want (1, 2 or 4) while both read.
struct Speeds {
    uint32_t first, second;
};
Speeds shared(uint32_t first, uint32_t second) {
    if (second == 1) return {first, 1};
    if (first == 1) return {1, second};
    return {first == 4 ? 2u : 1u, second == 4 ? 2u : 1u};
}

bool reads(const std::vector<UnpackWork>& work, uint64_t cycle) { return !work.empty() && work.front().from <= cycle; }

}  // namespace

void Tile::keep_rows(const Blocks& rows) {
    Before& kept = before[cycle % before.size()];
    kept.due = before_due = cycle + SEEN_BY_LOADS, kept.rows = rows, kept.shown = false;
    for (uint32_t n = 0; n < rows.count; ++n) {
        const uint32_t row = (rows.first + n) & 1023;
        kept.data[n] = state.matrix.dst[row], kept.valid[n] = state.matrix.valid[row];
    }
}

// Old rows in place of new ones, from the youngest write to the oldest, or back.
void Tile::show_before(bool shows) {
    for (size_t k = 0; k < before.size(); ++k) {
        Before& each = before[(cycle + (shows ? before.size() - k : k + 1)) % before.size()];
        if (each.shown == shows || (shows && each.due <= cycle)) continue;
        each.shown = shows;
        for (uint32_t n = 0; n < each.rows.count; ++n) {
            const uint32_t row = (each.rows.first + n) & 1023;
            std::swap(each.data[n], state.matrix.dst[row]);
            std::swap(each.valid[n], state.matrix.valid[row]);
        }
    }
}

bool Tile::stale_rows(const Blocks& rows) const {
    for (const Before& each : before) {
        if (each.due <= cycle) continue;
        for (uint32_t n = 0; n < each.rows.count; ++n) {
            const uint32_t row = (each.rows.first + n) & 1023;
            if (row < rows.first || row >= uint32_t(rows.first) + rows.count) continue;
            if (each.data[n] != state.matrix.dst[row] || each.valid[n] != state.matrix.valid[row]) return true;
        }
    }
    return false;
}

void Tile::issue_unpack(const Entry& entry, int thread, const Timing& timing) {
    const Unit unit = unit_of(entry.word);
    const size_t event = events.size();
    uint64_t until = cycle + 1;
    if (auto job = unpack::start(state, entry.word, thread, context(entry))) {
        auto& work = unpackers[unit == Unit::Unpack1];
        work.push_back({*job, entry, cycle + SETUP, event, timing.dst_writes}), ++working;
        unpack_setup = thread_free[size_t(thread)] = until = cycle + SETUP;
    } else {
        ++units[size_t(unit)].busy_cycles;
    }
    uint64_t& flight = in_flight[size_t(thread)][size_t(unit)];
    flight = std::max(flight, until);
    active(until);
    if (tracing) events.push_back({cycle, until, thread, int(unit), entry.word, entry.pc, entry.index, entry.pushed});
}

void Tile::issue_pack(const Entry& entry, int thread) {
    active(cycle + 1);
    uint64_t& flight = in_flight[size_t(thread)][size_t(Unit::Pack)];
    flight = std::max(flight, cycle + 1);
    for (pack::Job& job : pack::start(state, entry.word, thread, context(entry))) {
        packers[size_t(job.unit)] = PackWork{job, entry, events.size()}, ++working;
        if (tracing)
            events.push_back(
                {cycle, cycle + 1, thread, PACKER_TRACK + job.unit, entry.word, entry.pc, entry.index, entry.pushed});
    }
}

void Tile::move_data() {
    moved = true;
    active(cycle + 1);
    if (!scalar_requests.empty()) move_scalar();
    for (int unit = 0; unit < 2; ++unit) {
        if (unpackers[size_t(unit)].empty()) continue;
        ++units[size_t(Unit::Unpack0) + size_t(unit)].busy_cycles;
    }
    const bool both = reads(unpackers[0], cycle) && reads(unpackers[1], cycle);
    const auto wants = [this](size_t unit) { return unpackers[unit].front().job.speed; };
    const Speeds speeds = both ? shared(wants(0), wants(1)) : Speeds{4, 4};
    if (reads(unpackers[0], cycle)) move_unpacker(0, std::min(speeds.first, wants(0)));
    if (reads(unpackers[1], cycle)) move_unpacker(1, std::min(speeds.second, wants(1)));
    const auto busy = [](const auto& each) { return each.has_value(); };
    if (std::any_of(packers.begin(), packers.end(), busy)) ++units[size_t(Unit::Pack)].busy_cycles;
    for (int unit = 0; unit < 4; ++unit)
        if (packers[size_t(unit)]) move_packer(unit);
    if (port) move_port();
}

// The requests in order; one that waits delays what it loads, and those behind it.
void Tile::move_scalar() {
    size_t done = 0;
    for (; done < scalar_requests.size(); ++done) {
        const ScalarRequest& request = scalar_requests[done];
        const bool whole =
            request.kind == ScalarRequest::load || (request.kind == ScalarRequest::store && request.bytes == 16);
        if (!banks.claim(request.address, SCALAR_CLIENT, cycle, whole ? 1 : NARROW_WRITE)) break;
        perform(request);
    }
    working -= uint32_t(done);
    scalar_requests.erase(scalar_requests.begin(), scalar_requests.begin() + int64_t(done));
    for (ScalarRequest& request : scalar_requests) {
        const size_t thread = size_t(request.thread);
        ++request.due;
        for (Writer& writer : gpr_writers[thread])
            if (writer.cycle == request.issued && writer.due + 1 == request.due) ++writer.due;
        memory_until[thread] = std::max({memory_until[thread], request.due, cycle + 2});
    }
}

void Tile::perform(const ScalarRequest& request) {
    uint8_t* at = state.l1.data() + request.address;
    const auto loads = [&](uint32_t index, uint32_t value) {
        gpr_writes.push_back({request.due, request.thread, index, request.mask, value});
    };
    switch (request.kind) {
        case ScalarRequest::load:
            for (uint32_t n = 0; n < std::max(request.bytes / 4, 1u); ++n) {
                uint32_t value = 0;
                std::memcpy(&value, at + 4 * n, std::min(request.bytes, 4u));
                loads(request.to + n, value);
            }
            return;
        case ScalarRequest::store: std::memcpy(at, request.values.data(), request.bytes); return;
        case ScalarRequest::swap:
            for (uint32_t n = 0; n < 8; ++n)
                if (request.mask >> n & 1)
                    std::memcpy(at + 2 * n, reinterpret_cast<const uint8_t*>(request.values.data()) + 2 * n, 2);
            return;
        case ScalarRequest::increment: {
            uint32_t old = 0;
            std::memcpy(&old, at, 4);
            const uint32_t sum = ((old + request.values[0]) & request.mask) | (old & ~request.mask);
            std::memcpy(at, &sum, 4);
            gpr_writes.push_back({request.due, request.thread, request.to, ~0u, old});
        }
    }
}

void Tile::move_unpacker(int unit, uint32_t speed) {
    auto& waiting = unpackers[size_t(unit)];
    UnpackWork& work = waiting.front();
    unpack::Job& job = work.job;
    const Context own = context(work.entry);
    const int client = UNPACKER_CLIENT + unit;
    for (uint32_t n = 0; n < speed && !job.finished(); ++n) {
        if (const auto line = job.missing_exponents()) {
            if (!banks.claim(uint32_t(*line * 16), client, cycle)) break;
            job.exponent_line = *line, state.moved += 16;
        }
        if (!banks.claim(uint32_t(job.line() * 16), client, cycle)) break;
        unpack::move_line(state, job, own);
    }
    const uint64_t until = cycle + 1;
    uint64_t& flight = in_flight[size_t(job.plan.thread)][size_t(Unit::Unpack0) + size_t(unit)];
    flight = std::max(flight, until);
    const bool done = job.finished();
    for (uint32_t n = work.dst.first / 8u; n < std::min((work.dst.first + work.dst.count + 7u) / 8u, 128u); ++n)
        dst_writers[n].due = std::max(dst_writers[n].due, until + !done);
    if (!done) return;
    unpack::finish(state, job);
    if (tracing) events[work.event].end = until;
    waiting.erase(waiting.begin()), --working;
}

void Tile::move_packer(int unit) {
    PackWork& work = *packers[size_t(unit)];
    const auto claim = [&](uint32_t address) { return banks.claim(address, PACKER_CLIENT + unit, cycle); };
    const bool done = pack::cycle(state, work.job, context(work.entry), claim);
    uint64_t& flight = in_flight[size_t(work.job.thread)][size_t(Unit::Pack)];
    flight = std::max(flight, cycle + 1);
    if (!done) return;
    if (tracing) events[work.event].end = cycle + 1;
    packers[size_t(unit)].reset(), --working;
}

}  // namespace polyloom::tensix
