// SPDX-License-Identifier: Apache-2.0
// Phase 2 of a cycle: which words the units accept from the wait gates, and what they occupy from then on. Hazards that
// the machine does not interlock are found here, from what the units say of their instructions.
#include <algorithm>
#include <bit>

#include "fields.hpp"
#include "opcodes.hpp"
#include "tile.hpp"

namespace polyloom::tensix {

namespace {

constexpr uint64_t DST_SETTLES = 4;  // cycles until rows of Dst can be read that were written

constexpr Unit unit_of_opcode(uint32_t op) {
    if (op >= 0xb0 && op <= 0xb8) return Unit::Config;
    if (op >= 0xa0 && op <= 0xa7) return Unit::Sync;
    if (op >= 0x70 && op <= 0x99) return Unit::Vector;
    if (op == 0x40) return Unit::Mover;
    if (op == 0x41 || op == 0x4a || op == 0x4b) return Unit::Pack;
    if (op == UNPACR || op == UNPACR_NOP) return Unit::Unpack0;
    if (op == 0x45 || op == 0x46 || op == 0x48 || op == 0x49) return Unit::Scalar;
    if (op >= 0x58 && op <= 0x5d) return Unit::Scalar;
    if (op >= 0x60 && op <= 0x68) return Unit::Scalar;
    if (op == 0x44 || (op >= 0x50 && op <= 0x5e)) return Unit::Misc;
    if (op >= 0x08 && op <= 0x3a) return Unit::Matrix;
    return Unit::Nothing;
}

constexpr std::array<Unit, 256> UNIT_OF = [] {
    std::array<Unit, 256> all{};
    for (uint32_t op = 0; op < 256; ++op) all[op] = unit_of_opcode(op);
    return all;
}();

// Whether a unit reads a configuration word: by the ranges of facts 1.6.
bool uses(Unit unit, uint32_t index) {
    const bool unpacks = unit == Unit::Unpack0 || unit == Unit::Unpack1, packs = unit == Unit::Pack;
    if (index < 8) return packs || unit == Unit::Matrix || unit == Unit::Vector;
    if (index < 36) return packs;
    if (index < 50) return unpacks;
    if (index < 152) return packs || unpacks;
    return packs && index < 156;
}

// The blocks of 8 rows that rows of Dst lie in: [first, behind).
struct Span {
    uint32_t first, behind;
};
Span span(const Blocks& rows) {
    if (rows.count == 0) return {0, 0};
    return {rows.first / 8u, std::min((rows.first + rows.count + 7u) / 8u, 128u)};
}

bool moves_data(Unit unit) { return unit == Unit::Unpack0 || unit == Unit::Unpack1 || unit == Unit::Pack; }

// Instructions of which each thread may issue one in the same cycle.
bool is_each_its_own(Unit unit, Word word) {
    return unit == Unit::Nothing || (unit == Unit::Sync && opcode(word) <= 0xa1) ||
           (unit == Unit::Config && opcode(word) == SETC16);
}

}  // namespace

Unit unit_of(Word word) {
    const Unit unit = UNIT_OF[opcode(word)];
    return unit == Unit::Unpack0 && field(word, 23, 23) ? Unit::Unpack1 : unit;
}

// Matrix unit and packers wait until rows of Dst that they read or overwrite have arrived.
bool Tile::blocks_ready(const Timing& timing) const {
    const Span rows = span(timing.dst_reads);
    for (uint32_t n = rows.first; n < rows.behind; ++n)
        if (dst_writers[n].due > cycle) return false;
    return true;
}

// The matrix unit waits for moves between Src and Dst that are on their way.
bool Tile::moves_ready(Word word) const {
    for (const MatrixIssue& each : matrix_issues) {
        const uint32_t distance = matrix::distance(each.word, word);
        if (distance > 1 && each.cycle + distance > cycle) return false;
    }
    return true;
}

// The registers that interlock hold the instruction; the others are a matter of `note_vector`.
bool Tile::may_vector(int thread, const Entry& entry, const Timing& timing) {
    if (vector_due > cycle)
        for (uint32_t bits = timing.reads & 0x3ffff; bits; bits &= bits - 1) {
            const Writer& writer = vector_writers[size_t(std::countr_zero(bits))];
            if (writer.due > cycle && writer.interlocked) return false;
        }
    return vector::ready(state, entry.word, thread);
}

bool Tile::may_accept(int thread, Unit unit, Timing& timing) {
    const Entry& entry = fronts[size_t(thread)].gate.front();
    const Word word = entry.word;
    if (unit == Unit::Nothing) return true;
    if (unit == Unit::Sync) return may_sync(thread, word);
    const bool busy = units[size_t(unit)].free_at > cycle;
    if (busy && !(unit == Unit::Vector && opcode(word) == SFPNOP)) return false;
    switch (unit) {
        case Unit::Vector:
            timing = vector::timing(state, words.of(state, word), thread);
            return may_vector(thread, entry, timing);
        case Unit::Matrix:
            timing = matrix::timing(state, word, thread);
            return matrix::ready(state, word, thread) && blocks_ready(timing) && moves_ready(word);
        case Unit::Unpack0:
        case Unit::Unpack1:
            if (!unpack_ready(unit, word, thread)) return false;
            timing = unpack::timing(state, word, thread);
            return blocks_ready(timing);
        case Unit::Pack:
            if (!pack_ready(word)) return false;
            timing = pack::timing(state, word, thread);
            return pack::ready(state, word, thread) && blocks_ready(timing);
        case Unit::Scalar: timing = scalar_timing(word); return scalar_ready(entry, thread);
        case Unit::Config: timing = config_timing(word); return config_ready(word);
        default: return true;
    }
}

// Two instructions are in an unpacker at most: while one reads L1, the next computes its address. Other unpacking
// instructions wait until it is done.
bool Tile::unpack_ready(Unit unit, Word word, int thread) const {
    const auto& work = unpackers[unit == Unit::Unpack1];
    const bool moves = opcode(word) == UNPACR && !field(word, 1, 1) && !field(word, 13, 13);
    if (work.size() >= (moves ? 2 : 1) || (moves && unpack_setup > cycle)) return false;
    return unpack::ready(state, word, thread);
}

// A packer accepts work when it has none.
bool Tile::pack_ready(Word word) const {
    const uint32_t mask = field(word, 11, 8) ? field(word, 11, 8) : 1;
    for (size_t n = 0; n < 4; ++n)
        if (packers[n] && (opcode(word) != pack::PACR || mask >> n & 1)) return false;
    return true;
}

// RDCFG, RMWCIB and accesses of cores have one slot per cycle, but none behind WRCFG and RDCFG.
bool Tile::config_ready(Word word) const {
    if (opcode(word) == SETC16 || opcode(word) == WRCFG) return true;
    return config_slot != cycle && wide_config + 1 != cycle;
}

// One instruction per unit and cycle: where threads want the same, round-robin behind the one that was served last.
void Tile::accept() {
    const auto asks = [this](size_t t) { return uint32_t(!fronts[t].gate.empty() & (thread_free[t] <= cycle)) << t; };
    static_assert(THREADS == 3);
    const uint32_t asking = asks(0) | asks(1) | asks(2);
    if (asking == 0) return;
    if (asking & (asking - 1)) return accept_one_per_unit();
    const int alone = int(asking >> 1);
    const Word word = fronts[size_t(alone)].gate.front().word;
    const Unit unit = unit_of(word);
    if (latches[size_t(alone)].on && blocked(alone, unit, word)) return;
    if (unit == Unit::Vector) return accept_vector(alone);
    Timing timing;
    if (may_accept(alone, unit, timing)) issue(alone, unit, timing);
}

// What may_accept and issue do, for a word of the vector unit that nobody competes with.
void Tile::accept_vector(int thread) {
    const Entry& entry = fronts[size_t(thread)].gate.front();
    if (units[size_t(Unit::Vector)].free_at > cycle && opcode(entry.word) != SFPNOP) return;
    const vector::Prepared& word = words.of(state, entry.word);
    if (word.depends)
        accept_vector(thread, entry, word, vector::timing(state, word, thread));
    else
        accept_vector(thread, entry, word, word.timing);
}

void Tile::accept_vector(int thread, const Entry& entry, const vector::Prepared& word, const Timing& timing) {
    if (!may_vector(thread, entry, timing)) return;
    if (!slow_config.empty()) note_config_use(thread, entry, Unit::Vector);
    execute_vector(thread, entry, word, timing);
    occupy(thread, Unit::Vector, entry, timing);
}

void Tile::accept_one_per_unit() {
    std::array<bool, THREADS> wants{};
    std::array<Unit, THREADS> unit{};
    std::array<Timing, THREADS> timing;
    int count = 0;
    for (int t = 0; t < THREADS; ++t) {
        const Front& front = fronts[size_t(t)];
        if (front.gate.empty() || thread_free[size_t(t)] > cycle) continue;
        const Word word = front.gate.front().word;
        unit[size_t(t)] = unit_of(word);
        if (blocked(t, unit[size_t(t)], word)) continue;
        wants[size_t(t)] = may_accept(t, unit[size_t(t)], timing[size_t(t)]);
        count += wants[size_t(t)];
    }
    if (count == 0) return;
    const std::array<bool, THREADS> asked = wants;
    for (int t = 0; count > 1 && t < THREADS; ++t) {
        const Unit own = unit[size_t(t)];
        if (!asked[size_t(t)] || is_each_its_own(own, fronts[size_t(t)].gate.front().word)) continue;
        const int last = units[size_t(own)].last, turn = (t - last + 2) % THREADS;
        for (int other = 0; other < THREADS; ++other) {
            if (other == t || !asked[size_t(other)] || unit[size_t(other)] != own) continue;
            if (is_each_its_own(own, fronts[size_t(other)].gate.front().word)) continue;
            if ((other - last + 2) % THREADS < turn) wants[size_t(t)] = false;
        }
    }
    for (int t = 0; t < THREADS; ++t)
        if (wants[size_t(t)]) issue(t, unit[size_t(t)], timing[size_t(t)]);
}

// The instructions that may not follow a shuffle of SFPSHFT2 at once (page of `SFPSHFT2`); reading too early is apart.
static bool collides_with_shuffle(Word word) {
    constexpr uint8_t LISTED[] = {0x76, 0x77, 0x78, 0x79, 0x7A, 0x7C, 0x7D, 0x7E, 0x7F,
                                  0x80, 0x81, 0x82, 0x83, 0x89, 0x8D, 0x8E, 0x90, 0x94};
    if (std::find(std::begin(LISTED), std::end(LISTED), opcode(word)) == std::end(LISTED)) return false;
    return opcode(word) != 0x94 || (word & 15) < 2 || (word & 15) > 4;
}

void Tile::note_vector(int thread, const Entry& entry, const Timing& timing) {
    if (shuffle.due > cycle && collides_with_shuffle(entry.word))
        hazard("shuffle-followed", thread, entry, shuffle, "the cycle after an SFPSHFT2 shuffle is not free for it",
               "one SFPNOP between", false);
    for (uint32_t bits = vector_due > cycle ? timing.reads & 0x3ffff : 0; bits; bits &= bits - 1) {
        const Writer& writer = vector_writers[size_t(std::countr_zero(bits))];
        if (writer.due > cycle)
            hazard("read-too-early", thread, entry, writer,
                   "L" + std::to_string(std::countr_zero(bits)) + " is read before its new value has arrived",
                   "one SFPNOP or an independent instruction between", stale_lanes(std::countr_zero(bits)));
    }
    const Span rows = span(timing.dst_reads);
    for (uint32_t n = rows.first; n < rows.behind; ++n) {
        const Writer& writer = dst_writers[n];
        const Unit by = unit_of(writer.entry.word);
        if (writer.due > cycle && by == Unit::Unpack0)
            hazard("dst-too-early", thread, entry, writer, "rows of Dst are loaded while the unpacker writes them",
                   "STALLWAIT blocking SFPU (0x100) while unpacker 0 is busy (0x2)", false);
        else if (writer.due > cycle && writer.cycle + DST_SETTLES > cycle && by == Unit::Matrix)
            hazard("dst-too-early", thread, entry, writer, "rows of Dst are loaded while the matrix unit writes them",
                   "three other instructions between, or STALLWAIT blocking SFPU (0x100) while FPU is busy (0x80)",
                   stale_rows(timing.dst_reads));
        else
            continue;
        break;  // a load finds one writer too many
    }
}

// Not needed for what is there in the next cycle, unless it takes the place of what is not.
void Tile::note_writes(int thread, const Entry& entry, const Timing& timing) {
    vector_due = std::max(vector_due, cycle + timing.latency);
    for (uint32_t bits = timing.writes & 0x3ffff; bits; bits &= bits - 1) {
        // Field by field: a Writer that is made first, and then copied in other pieces, takes the host much longer.
        Writer& writer = vector_writers[size_t(std::countr_zero(bits))];
        writer.cycle = cycle, writer.due = cycle + timing.latency, writer.entry = entry;
        writer.thread = thread, writer.interlocked = timing.interlocked;
    }
}

void Tile::execute_vector(int thread, const Entry& entry, const vector::Prepared& word, const Timing& timing) {
    Context context = this->context(entry);
    if (vector_due > cycle || timing.dst_reads.count) note_vector(thread, entry, timing);
    const bool too_early = timing.dst_reads.count && before_due > cycle;
    if (too_early) show_before(true);
    vector::execute(state, word, thread, context);
    if (too_early) show_before(false);
    if (timing.latency > 1 || vector_due > cycle + 1) note_writes(thread, entry, timing);
    if (timing.shuffles) shuffle = {cycle, cycle + 2, entry, thread, false};
}

void Tile::note_config_use(int thread, const Entry& entry, Unit unit) {
    const int own = int(state.config.thread[size_t(thread)][0] & 1);
    for (const Writer& writer : slow_config) {
        const Word by = writer.entry.word;
        const uint32_t index = opcode(by) == WRCFG ? field(by, 10, 0) : layout(state.member).thcon + field(by, 12, 6);
        if (writer.thread != thread || writer.due <= cycle || !uses(unit, index)) continue;
        hazard("config-too-early", thread, entry, writer, "configuration is used in the cycle behind its write",
               "one NOP between", opcode(by) != WRCFG || stale_config(own, index));
    }
}

void Tile::issue(int thread, Unit unit, const Timing& timing) {
    Front& front = fronts[size_t(thread)];
    const Entry entry = front.gate.front();
    Context context = this->context(entry);
    if (!slow_config.empty()) note_config_use(thread, entry, unit);
    switch (unit) {
        case Unit::Vector: execute_vector(thread, entry, words.of(state, entry.word), timing); break;
        case Unit::Matrix:
            matrix_issues[cycle % matrix_issues.size()] = {entry.word, cycle};
            if (timing.dst_writes.count) keep_rows(timing.dst_writes);
            matrix::execute(state, entry.word, thread, context);
            break;
        case Unit::Unpack0:
        case Unit::Unpack1: issue_unpack(entry, thread, timing); break;
        case Unit::Pack: issue_pack(entry, thread); break;
        case Unit::Scalar:
            execute_scalar(entry, thread, timing);
            thread_free[size_t(thread)] = cycle + timing.busy;
            break;
        case Unit::Config:
            if (opcode(entry.word) != WRCFG && opcode(entry.word) != SETC16) config_slot = cycle;
            if (opcode(entry.word) == WRCFG || opcode(entry.word) == RDCFG) wide_config = cycle;
            execute_config(entry, thread);
            // Wormhole holds the thread until the GPR is written; Blackhole does not (page of RDCFG of each).
            if (opcode(entry.word) == RDCFG && state.member == Member::Wormhole)
                thread_free[size_t(thread)] = cycle + timing.latency;
            break;
        case Unit::Sync:
            if (!is_each_its_own(unit, entry.word)) semaphore_slot = cycle;
            execute_sync(entry, thread);
            break;
        case Unit::Misc:
            if (opcode(entry.word) == SETDVALID)
                matrix::execute(state, entry.word, thread, context);
            else
                counters::execute(state, entry.word, thread, context);
            break;
        case Unit::Mover:
            context.fault("not-modelled", thread, entry.word, "the mover (XMOV) is not modelled",
                          "copy with a core or with the scalar unit");
        case Unit::Nothing:
            if (opcode(entry.word) != OP_NOP)
                context.fault("reserved-opcode", thread, entry.word, "no unit has this opcode",
                              "disassemble the words with polyloom show");
            break;
    }
    occupy(thread, unit, entry, timing);
}

// What an instruction that was accepted occupies from now on.
void Tile::occupy(int thread, Unit unit, const Entry& entry, const Timing& timing) {
    const uint64_t until = cycle + std::max(timing.busy, timing.latency);
    if (timing.dst_writes.count) {
        const Span rows = span(timing.dst_writes);
        for (uint32_t n = rows.first; n < rows.behind; ++n)
            dst_writers[n] = {cycle, cycle + std::max<uint64_t>(timing.latency, DST_SETTLES), entry, thread, false};
    }
    fronts[size_t(thread)].gate.pop();
    if (accounting) [[unlikely]]
        tally.begin(cycle), tally.accepted[size_t(thread)] = cycle + 1,
                            tally.add(thread, Why::ACCEPTED + uint32_t(unit), entry.pc);
    UnitState& used = units[size_t(unit)];
    used.last = thread, ++used.accepted, moved = true;
    if (moves_data(unit)) return;  // its time is that of its work
    used.free_at = std::max(used.free_at, cycle + timing.busy);
    used.busy_cycles += timing.busy;
    uint64_t& flight = in_flight[size_t(thread)][size_t(unit)];
    flight = std::max(flight, until);
    active(until);
    if (tracing) events.push_back({cycle, until, thread, int(unit), entry.word, entry.pc, entry.index, entry.pushed});
}

}  // namespace polyloom::tensix
