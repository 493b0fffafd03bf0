// SPDX-License-Identifier: Apache-2.0
// The matrix unit's instructions: which function executes each, which Src bank each waits for, and what it occupies.
#include "matrix_unit.hpp"

namespace polyloom::tensix::matrix {
namespace {

using Execute = void (*)(const Instruction&);

struct Row {
    uint32_t opcode;
    Execute execute;
    uint8_t latency;
    bool waits_a, waits_b;
    uint8_t reads, writes;  // rows of Dst
};

constexpr Row ROWS_OF_UNIT[] = {
    {MVMUL, multiply, 5, true, true, 8, 8},          {GAPOOL, multiply, 5, true, true, 4, 4},
    {ELWMUL, elementwise, 5, true, true, 8, 8},      {ELWADD, elementwise, 5, true, true, 8, 8},
    {ELWSUB, elementwise, 5, true, true, 8, 8},      {GMPOOL, pool, 5, true, true, 4, 4},
    {MOVA2D, source_to_dst, 4, true, false, 0, 8},   {MOVB2D, source_to_dst, 4, false, true, 0, 8},
    {MOVD2A, dst_to_source, 2, false, false, 4, 0},  {MOVD2B, dst_to_source, 4, false, false, 4, 0},
    {TRNSPSRCB, transpose, 1, false, true, 0, 0},    {ZEROACC, zero_dst, 1, false, false, 0, 0},
    {ZEROSRC, zero_source, 1, false, false, 0, 0},   {CLEARDVALID, clear_valid, 1, false, false, 0, 0},
    {SETDVALID, set_valid, 1, false, false, 0, 0},   {SETRWC, set_counters, 1, false, false, 0, 0},
    {INCRWC, add_counters, 1, false, false, 0, 0},   {MOVB2A, source_to_source, 2, false, true, 0, 0},
    {GATESRCRST, invalidate, 1, false, false, 0, 0},
};

const Row* row_of(Word word) {
    for (const Row& row : ROWS_OF_UNIT)
        if (row.opcode == opcode(word)) return &row;
    return nullptr;
}

// The aligned blocks of 8 rows around `count` rows, as 16-bit rows; 32-bit rows take both halves, 16 on.
Blocks blocks(uint32_t row, uint32_t count, bool wide) {
    if (!count) return {};
    const uint32_t first = row & 0x3F8;
    return wide ? Blocks{uint16_t(dst::upper(first)), 16} : Blocks{uint16_t(first), 8};
}

}  // namespace

Formats formats(const Configuration& c) {
    const auto a = Format(c(c(alu::a_override) ? alu::a_override_format : alu::a_format));
    if (c.thread(own::force_fp16)) return {a, Style::FP16, false};
    if (c(alu::int8)) return {a, Style::INT8, true};
    return {a, style_of(a), bool(c(alu::fp32))};
}

uint32_t dst_row(const Configuration& c, const Counters& counters, Word word) {
    return (field(word, 9, 0) + c.thread(own::math_offset) + counters.dst + c(alu::dst_base)) & 1023;
}

void flip(const Instruction& i) {
    if (i.field(22, 22)) {
        if (!i.configuration.thread(own::keep_a)) i.a().with_matrix = false;
        i.matrix.a_matrix ^= 1;
    }
    if (i.field(23, 23)) {
        if (!i.configuration.thread(own::keep_b)) i.b().with_matrix = false;
        i.matrix.b_matrix ^= 1;
    }
}

Waits waits(Word word) {
    const Row* row = row_of(word);
    return row ? Waits{row->waits_a, row->waits_b} : Waits{false, false};
}

Timing timing(const State& state, Word word, int thread) {
    Timing made;
    const Row* row = row_of(word);
    made.unit = opcode(word) == SETDVALID ? Unit::Misc : Unit::Matrix;
    if (!row) return made;
    const Configuration c(state, thread);
    made.latency = row->latency;
    made.interlocked = true;
    const uint32_t at = dst_row(c, state.matrix.counters[thread], word);
    const Formats f = formats(c);
    const bool mova_wide = f.a == Format::TF32 || field(word, 23, 23);
    const bool wide = row->execute == source_to_dst   ? mova_wide
                      : row->execute == dst_to_source ? !c.thread(own::force_fp16) && (c(alu::fp32) || c(alu::int8))
                                                      : f.dst_32;
    const bool keeps = (opcode(word) == ELWADD || opcode(word) == ELWSUB) && field(word, 21, 21) == 0;
    made.dst_reads = blocks(at, keeps ? 0 : row->reads, wide);
    made.dst_writes = blocks(at, row->writes, wide);
    return made;
}

bool ready(const State& state, Word word, int) {
    const Waits w = waits(word);
    const MatrixState& m = state.matrix;
    return (!w.a || m.a[m.a_matrix].with_matrix) && (!w.b || m.b[m.b_matrix].with_matrix);
}

void execute(State& state, Word word, int thread, Context& context) {
    const Row* row = row_of(word);
    if (!row) context.fault("not-modelled", thread, word, "this instruction of the matrix unit is not modelled");
    if (state.member == Member::Blackhole && opcode(word) != SETRWC && opcode(word) != INCRWC)
        context.fault("not-modelled", thread, word, "the matrix unit of Blackhole is not modelled");
    row->execute(Instruction(state, word, thread, context));
}

uint32_t distance(Word earlier, Word later) {
    const uint32_t first = opcode(earlier), then = opcode(later);
    if (first == MOVD2A || first == MOVB2A) return then == MOVD2A || then == MOVB2A ? 1 : 2;
    if (first == MOVD2B) return then == MOVD2B ? 1 : 4;
    if (first != MOVA2D && first != MOVB2D) return 1;
    const bool reads =
        then == MOVD2A || then == MOVD2B || then == ELWMUL || then == MVMUL || then == GMPOOL || then == GAPOOL;
    return reads ? 4 : 1;
}

}  // namespace polyloom::tensix::matrix
