// SPDX-License-Identifier: Apache-2.0
// The unpackers: UNPACR moves datums of a tile in L1 to SrcA, SrcB or Dst and converts them, or counts or forgets
// contexts; UNPACR_NOP clears and hands over banks of Src. Output starts four rows in: rows before are dropped.
#include <algorithm>

#include "unpack_unit.hpp"

namespace polyloom::tensix::unpack {
namespace {

[[noreturn]] void fault(const Context& context, int thread, Word word, const char* text) {
    context.fault(std::string(text).ends_with("modelled") ? "not-modelled" : "undefined", thread, word, text);
}

uint64_t wrapped(const Plan& p, uint64_t byte) { return byte > p.limit ? byte - p.fifo : byte; }

// Datums in the order in which they lie in L1, rows of 16 with their stride.
class Reader {
  public:
    Reader(const State& state, const Plan& plan) : l1_(state.l1), plan_(plan) {
        at_ = wrap_bits(plan.datums_bits);
        exponent_ = wrapped(plan, plan.exponents_sixteenths / 16) * 16 + plan.exponents_sixteenths % 16;
    }

    [[nodiscard]] bool inside() const {
        const bool shares = is_block(plan_.in) && !plan_.forced_exponent;
        return at_ / 8 + (bits_of(plan_.in) + 7) / 8 <= l1_.size() && (!shares || exponent_ / 16 < l1_.size());
    }

    uint32_t next() {
        const uint32_t bits = bits_of(plan_.in);
        uint32_t made = 0;
        for (uint32_t k = 0; k < (bits + 7) / 8; ++k) made |= uint32_t(l1_[at_ / 8 + k]) << (8 * k);
        made = bits == 32 ? made : made >> (bits < 8 ? at_ % 8 : 0) & ((1u << bits) - 1);
        at_ += bits;
        if (++count_ % 16 == 0) at_ = wrap_bits(at_ - 16 * bits + uint64_t(plan_.row_stride) * 8);
        return made;
    }

    uint32_t exponent() {
        if (plan_.forced_exponent || !is_block(plan_.in)) return plan_.forced_exponent.value_or(0);
        const uint32_t made = l1_[exponent_ / 16];
        if (++exponent_ % 256 == 0) exponent_ = wrapped(plan_, exponent_ / 16) * 16;
        return made;
    }

  private:
    [[nodiscard]] uint64_t wrap_bits(uint64_t bits) const { return wrapped(plan_, bits / 8) * 8 + bits % 8; }

    const std::vector<uint8_t>& l1_;
    const Plan& plan_;
    uint64_t at_ = 0, exponent_ = 0;
    uint32_t count_ = 0;
};

// Why a datum cannot be written, or null.
const char* write_a(State& state, const Plan& p, uint32_t row, uint32_t column, uint32_t value) {
    if (row < 4 || column < p.column_shift) return nullptr;
    row -= 4, column -= p.column_shift;
    const bool by_address = Configuration(state, p.thread).thread(own::a_override);
    if (row >= (by_address ? 64u : 16u))
        return by_address ? "a row of SrcA beyond 63" : "a row of SrcA beyond 15 without SRCA_SET_SetOvrdWithAddr";
    if (!by_address) row += state.unpackers[0].row[p.thread];
    if (p.transposes) {
        const uint32_t low = row & 15;
        row = (row & ~15u) | column, column = low;
    }
    state.matrix.a[state.matrix.a_unpack].rows[row & 63][column] = value;
    return nullptr;
}

void write_dst(State& state, const Plan& p, uint32_t row, uint32_t column, uint32_t value) {
    const bool by_address = Configuration(state, p.thread).thread(own::a_override), wide = bits_of(p.out) == 32;
    row = (row - 4) & (by_address ? 15 : 1023);
    dst::settle(state.matrix, row, wide);
    wide ? dst::write32(state.matrix, row, column, value) : dst::write16(state.matrix, row, column, value);
}

const char* write(State& state, const Plan& p, uint32_t datum, uint32_t value) {
    const uint32_t row = datum / 16, column = datum % 16;
    if (p.unit) {
        const uint32_t at = (row + state.unpackers[1].row[p.thread]) & 63;
        state.matrix.b[state.matrix.b_unpack].rows[at][column] = value;
        return nullptr;
    }
    if (!p.to_dst) return write_a(state, p, row, column, value);
    write_dst(state, p, row, column, value);
    return nullptr;
}

void move(State& state, Word word, int thread, const Context& context, const Plan& p) {
    Reader reader(state, p);
    const bool zeros = field(word, 4, 4);
    const bool is_unsigned = Configuration(state, thread)(p.unit ? alu::b_unsigned : alu::a_unsigned);
    for (uint32_t k = 0; k < p.count; ++k) {
        if (!reader.inside()) fault(context, thread, word, "an address outside L1");
        const uint32_t bits = reader.next();
        const auto made = convert(p, bits, reader.exponent(), is_unsigned);
        if (!made) fault(context, thread, word, "these data formats do not convert into each other");
        if (const char* why = write(state, p, p.out_datum + k, zeros ? 0 : *made)) fault(context, thread, word, why);
    }
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

void hand_over(State& state, int unit, int thread) {
    const uint32_t base = Configuration(state, thread).thread(unit ? own::b_set : own::a_set) << 4;
    MatrixState& m = state.matrix;
    (unit ? m.b[m.b_unpack] : m.a[m.a_unpack]).with_matrix = true;
    (unit ? m.b_unpack : m.a_unpack) ^= 1;
    state.unpackers[unit].row[thread] = base;
}

void regular(State& state, Word word, int thread, const Context& context) {
    const Plan p = plan(state, word, thread);
    if (p.refusal) fault(context, thread, word, p.refusal);
    move(state, word, thread, context, p);
    if (p.contexts && field(word, 3, 3)) count_context(state, word, thread, p.context);
    advance(state, word, p);
    const Configuration c(state, thread);
    if (field(word, 6, 6)) return hand_over(state, p.unit, thread);
    if (c(unpacker::advance_row, unpacker::section[p.unit])) {
        uint32_t& row = state.unpackers[p.unit].row[thread];
        row = (row + 16 + (c.thread(p.unit ? own::b_set : own::a_set) << 4)) & 63;
    }
}

// UNPACR_NOP: 1 clears Src (bit 2: SrcA to minus infinity, bit 3: both banks, bit 4: waits as UNPACR does), 2 does
// nothing, 7 hands over. The rest talks to streams of the network.
void side_effect(State& state, Word word, int thread, const Context& context) {
    const uint32_t what = field(word, 22, 0);
    const int unit = int(field(word, 23, 23));
    if (what == 2) return;
    if (what == 7) return hand_over(state, unit, thread);
    if ((what & 3) != 1 || what > 31) fault(context, thread, word, "this form of UNPACR_NOP is not modelled");
    const bool infinite = what & 4 && !unit;
    MatrixState& m = state.matrix;
    for (int bank = 0; bank < 2; ++bank)
        if (what & 8 || bank == (unit ? m.b_unpack : m.a_unpack))
            for (auto& row : (unit ? m.b : m.a)[bank].rows) row.fill(infinite ? 0x7FFFF : 0);
}

// Cycles for reading at 16, 32 or 64 bytes per cycle.
uint32_t cycles(const State& state, const Plan& p) {
    uint32_t speed = Configuration(state, p.thread)(unpacker::throttle, unpacker::section[p.unit]);
    if (bits_of(p.in) == 2) speed = 0;
    if (p.to_dst && bits_of(p.in) == 4) speed = std::min(speed, 1u);
    if (p.tileizes) speed = 2;
    const uint32_t bytes = (p.count * bits_of(p.in) + 7) / 8, at_once = 16u << std::min(speed, 2u);
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

void execute(State& state, Word word, int thread, Context& context) {
    if (state.member == Member::Blackhole) fault(context, thread, word, "the unpackers of Blackhole are not modelled");
    if (opcode(word) == UNPACR_NOP) return side_effect(state, word, thread, context);
    if (opcode(word) != UNPACR) fault(context, thread, word, "this instruction of the unpackers is not modelled");
    if (field(word, 1, 1)) return;  // flushes a cache of row starts, which only compression has
    if (!field(word, 13, 13)) return regular(state, word, thread, context);
    count_context(state, word, thread, state.unpackers[field(word, 23, 23)].context[thread]);
}

}  // namespace polyloom::tensix::unpack
