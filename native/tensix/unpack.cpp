// SPDX-License-Identifier: Apache-2.0
// The unpackers: UNPACR moves datums of a tile in L1 to SrcA, SrcB or Dst and converts them, or counts or forgets
// contexts; UNPACR_NOP clears and hands over banks of Src. Output starts four rows in: rows before are dropped.
#include <algorithm>

#include "unpack_unit.hpp"

namespace polyloom::tensix::unpack {
namespace {

[[noreturn]] void fault(const Context& context, int thread, Word word, const char* text) {
    context.fault(std::string(text).ends_with("outside L1") ? "outside-l1" : "not-modelled", thread, word, text);
}

uint64_t wrapped(const Plan& p, uint64_t byte) { return byte > p.limit ? byte - p.fifo : byte; }

bool shares_exponents(const Plan& p) { return is_block(p.in) && !p.forced_exponent; }

uint64_t wrap_bits(const Plan& p, uint64_t bits) { return wrapped(p, bits / 8) * 8 + bits % 8; }

bool inside(const State& state, const Job& job) {
    const size_t size = state.l1.size();
    return job.at / 8 + (bits_of(job.plan.in) + 7) / 8 <= size &&
           (!shares_exponents(job.plan) || job.exponent / 16 < size);
}

uint32_t next_bits(const State& state, Job& job) {
    const uint32_t bits = bits_of(job.plan.in);
    uint32_t made = 0;
    for (uint32_t k = 0; k < (bits + 7) / 8; ++k) made |= uint32_t(state.l1[job.at / 8 + k]) << (8 * k);
    made = bits == 32 ? made : made >> (bits < 8 ? job.at % 8 : 0) & ((1u << bits) - 1);
    job.at += bits;
    if ((job.done + 1) % 16 == 0) job.at = wrap_bits(job.plan, job.at - 16 * bits + uint64_t(job.plan.row_stride) * 8);
    return made;
}

uint32_t next_exponent(const State& state, Job& job) {
    if (!shares_exponents(job.plan)) return job.plan.forced_exponent.value_or(0);
    const uint32_t made = state.l1[job.exponent / 16];
    job.exponent_line = job.exponent / 256;
    if (++job.exponent % 256 == 0) job.exponent = wrapped(job.plan, job.exponent / 16) * 16;
    return made;
}

// Why a datum cannot be written, or null.
const char* write_a(State& state, const Job& job, uint32_t row, uint32_t column, uint32_t value) {
    const Plan& p = job.plan;
    if (row < 4 || column < p.column_shift) return nullptr;
    row -= 4, column -= p.column_shift;
    // Undefined, by the page; but after each tile of 32 bits the vendor's kernels clear a row behind the last one,
    // which must be harmless: rows wrap as those of SrcB do.
    if (row >= (job.by_address ? 64u : 16u) && !(job.zeros && job.by_address))
        return job.by_address ? "a row of SrcA beyond 63" : "a row of SrcA beyond 15 without SRCA_SET_SetOvrdWithAddr";
    if (!job.by_address) row += job.row;
    if (p.transposes) {
        const uint32_t low = row & 15;
        row = (row & ~15u) | column, column = low;
    }
    state.matrix.a[size_t(job.bank)].rows[row & 63][column] = value;
    return nullptr;
}

void write_dst(State& state, const Job& job, uint32_t row, uint32_t column, uint32_t value) {
    const bool wide = bits_of(job.plan.out) == 32;
    row = (row - 4) & (job.by_address ? 15 : 1023);
    dst::settle(state.matrix, row, wide);
    wide ? dst::write32(state.matrix, row, column, value) : dst::write16(state.matrix, row, column, value);
}

const char* write(State& state, const Job& job, uint32_t datum, uint32_t value) {
    const uint32_t row = datum / 16, column = datum % 16;
    if (job.plan.unit) {
        state.matrix.b[size_t(job.bank)].rows[(row + job.row) & 63][column] = value;
        return nullptr;
    }
    if (!job.plan.to_dst) return write_a(state, job, row, column, value);
    write_dst(state, job, row, column, value);
    return nullptr;
}

void count_context(State& state, Word word, int thread, uint32_t from) {
    const int unit = int(field(word, 23, 23));
    const uint32_t next = from + 1;
    const uint32_t end = 1u << Configuration(state, thread)(unpacker::context_count, unpacker::section[unit]);
    state.unpackers[unit].context[thread] = next >= end ? 0 : next;
}

void advance(State& state, Word word, const Plan& p) {
    for (int t = 0; t < THREADS; ++t) {
        if (t != p.thread && t != p.counters) continue;
        AddressCounter& of = state.counters[t][p.unit];
        of.y[0] = (of.y[0] + field(word, 18, 17)) & 0x1FFF, of.z[0] = (of.z[0] + field(word, 16, 15)) & 0xFF;
        of.y[1] = (of.y[1] + field(word, 22, 21)) & 0x1FFF, of.z[1] = (of.z[1] + field(word, 20, 19)) & 0xFF;
    }
}

// The next instructions write to the other bank; this one is the matrix unit's when its data are there.
void turn(State& state, int unit, int thread) {
    MatrixState& m = state.matrix;
    (unit ? m.b_unpack : m.a_unpack) ^= 1;
    state.unpackers[unit].row[thread] = Configuration(state, thread).thread(unit ? own::b_set : own::a_set) << 4;
}

void give(State& state, int unit, int bank) {
    (unit ? state.matrix.b : state.matrix.a)[size_t(bank)].with_matrix = true;
}

// Lines per cycle: by the throttle, but for formats and modes that have a speed of their own.
uint32_t speed(const State& state, const Plan& p) {
    if (p.tileizes) return 4;
    if (bits_of(p.in) == 2) return 1;
    const uint32_t asked = Configuration(state, p.thread)(unpacker::throttle, unpacker::section[p.unit]);
    return 1u << std::min(asked, p.to_dst && bits_of(p.in) == 4 ? 1u : 2u);
}

Job job_of(const State& state, Word word, const Plan& p) {
    const Configuration c(state, p.thread);
    Job job;
    job.plan = p, job.word = word;
    job.at = wrap_bits(p, p.datums_bits);
    job.exponent = wrapped(p, p.exponents_sixteenths / 16) * 16 + p.exponents_sixteenths % 16;
    job.speed = speed(state, p);
    job.bank = p.unit ? state.matrix.b_unpack : state.matrix.a_unpack;
    job.row = state.unpackers[p.unit].row[p.thread];
    job.zeros = field(word, 4, 4), job.is_unsigned = c(p.unit ? alu::b_unsigned : alu::a_unsigned);
    job.by_address = c.thread(own::a_override), job.hands_over = field(word, 6, 6);
    return job;
}

Job regular(State& state, Word word, int thread, const Context& context) {
    const Plan p = plan(state, word, thread);
    if (p.refusal) fault(context, thread, word, p.refusal);
    const Job job = job_of(state, word, p);
    // Zeros have no format to come from: kernels clear a row of SrcA so after they have unpacked FP32 into Dst.
    if (p.count && !job.zeros && !convert(p, 0, 0, job.is_unsigned))
        fault(context, thread, word, "these data formats do not convert into each other");
    if (p.contexts && field(word, 3, 3)) count_context(state, word, thread, p.context);
    advance(state, word, p);
    if (job.hands_over) return turn(state, p.unit, thread), job;
    const Configuration c(state, thread);
    if (c(unpacker::advance_row, unpacker::section[p.unit])) {
        uint32_t& row = state.unpackers[p.unit].row[thread];
        row = (row + 16 + (c.thread(p.unit ? own::b_set : own::a_set) << 4)) & 63;
    }
    return job;
}

// UNPACR_NOP: 1 clears Src (bit 2: SrcA to minus infinity, bit 3: both banks, bit 4: waits as UNPACR does), 2 does
// nothing, 7 hands over. The rest talks to streams of the network.
void side_effect(State& state, Word word, int thread, const Context& context) {
    const uint32_t what = field(word, 22, 0);
    const int unit = int(field(word, 23, 23));
    if (what == 2) return;
    if (what == 7) {
        give(state, unit, unit ? state.matrix.b_unpack : state.matrix.a_unpack);
        return turn(state, unit, thread);
    }
    if ((what & 3) != 1 || what > 31) fault(context, thread, word, "this form of UNPACR_NOP is not modelled");
    const bool infinite = what & 4 && !unit;
    MatrixState& m = state.matrix;
    for (int bank = 0; bank < 2; ++bank)
        if (what & 8 || bank == (unit ? m.b_unpack : m.a_unpack))
            for (auto& row : (unit ? m.b : m.a)[bank].rows) row.fill(infinite ? 0x7FFFF : 0);
}

// Cycles of an instruction that has L1 for itself: two for the address, then a cycle per line or lines.
uint32_t cycles(const State& state, const Plan& p) {
    const uint32_t bytes = (p.count * bits_of(p.in) + 7) / 8, at_once = 16 * speed(state, p);
    return 2 + (bytes + at_once - 1) / at_once;
}

}  // namespace

Timing timing(const State& state, Word word, int thread) {
    Timing made;
    made.unit = field(word, 23, 23) ? Unit::Unpack1 : Unit::Unpack0;
    if (opcode(word) != UNPACR || field(word, 1, 1) || field(word, 13, 13)) return made;
    const Plan p = plan(state, word, thread);
    if (p.refusal) return made;
    made.busy = made.latency = cycles(state, p);
    if (!p.to_dst) return made;
    const uint32_t first = (p.out_datum / 16 - 4) & 0x3F8, rows = (p.count + 15) / 16;
    const bool wide = bits_of(p.out) == 32;
    made.dst_writes = {uint16_t(wide ? dst::upper(first) : first), uint16_t(wide ? 2 * rows : rows)};
    return made;
}

bool ready(const State& state, Word word, int) {
    const MatrixState& m = state.matrix;
    const bool b = field(word, 23, 23);
    const auto with_matrix = [&](int bank) { return (b ? m.b : m.a)[bank].with_matrix; };
    const int own_bank = b ? m.b_unpack : m.a_unpack;
    if (opcode(word) == UNPACR) return field(word, 1, 1) || field(word, 13, 13) || !with_matrix(own_bank);
    if (field(word, 1, 0) != 1) return true;
    return !with_matrix(field(word, 4, 4) ? own_bank : b ? m.b_matrix : m.a_matrix);
}

std::optional<uint64_t> Job::missing_exponents() const {
    if (!shares_exponents(plan) || exponent / 256 == exponent_line) return {};
    return exponent / 256;
}

std::optional<Job> start(State& state, Word word, int thread, const Context& context) {
    if (state.member == Member::Blackhole) fault(context, thread, word, "the unpackers of Blackhole are not modelled");
    if (opcode(word) == UNPACR_NOP) return side_effect(state, word, thread, context), std::nullopt;
    if (opcode(word) != UNPACR) fault(context, thread, word, "this instruction of the unpackers is not modelled");
    if (field(word, 1, 1)) return {};  // flushes a cache of row starts, which only compression has
    if (!field(word, 13, 13)) return regular(state, word, thread, context);
    count_context(state, word, thread, state.unpackers[field(word, 23, 23)].context[thread]);
    return {};
}

void move_line(State& state, Job& job, const Context& context) {
    const Plan& p = job.plan;
    state.moved += 16;
    for (const uint64_t line = job.line(); !job.finished() && job.line() == line; ++job.done) {
        if (!inside(state, job)) fault(context, p.thread, job.word, "an address outside L1");
        const uint32_t bits = next_bits(state, job), value = next_exponent(state, job);
        const uint32_t made = job.zeros ? 0 : *convert(p, bits, value, job.is_unsigned);
        if (const char* why = write(state, job, p.out_datum + job.done, made)) fault(context, p.thread, job.word, why);
    }
}

void finish(State& state, const Job& job) {
    if (job.hands_over) give(state, job.plan.unit, job.bank);
}

void execute(State& state, Word word, int thread, Context& context) {
    std::optional<Job> job = start(state, word, thread, context);
    if (!job) return;
    while (!job->finished()) move_line(state, *job, context);
    finish(state, *job);
}

}  // namespace polyloom::tensix::unpack
