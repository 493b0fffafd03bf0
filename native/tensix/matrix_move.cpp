// SPDX-License-Identifier: Apache-2.0
// MOVA2D, MOVB2D, MOVD2A, MOVD2B, MOVB2A and TRNSPSRCB: bits between Src and Dst. The format that SrcA is configured
// to have decides for SrcB too, as in the machine. LaneConfig's BLOCK_DEST_MOV keeps columns as they are.
#include <utility>

#include "matrix_unit.hpp"

namespace polyloom::tensix::matrix {
namespace {

bool blocked(const Instruction& i, uint32_t column) {
    return i.state.vector.lane_config[column / 2] >> (9 + (column & 1)) & 1;
}

struct Rows {
    uint32_t dst, source, count, source_step;
};

Rows rows(const Instruction& i, uint32_t counter, uint32_t count, bool broadcast) {
    const uint32_t source = (i.field(22, 17) + counter) & 63;
    const uint32_t at = dst_row(i.configuration, i.counters, i.word);
    return {at & ~(count - 1), broadcast ? source : source & ~(count - 1), count, broadcast ? 0u : 1u};
}

Rows rows_to_dst(const Instruction& i) {
    if (opcode(i.word) == MOVA2D) return rows(i, i.counters.a, i.field(13, 13) ? 8 : 1, false);
    const bool broadcast = i.field(13, 13);
    return rows(i, i.counters.b, broadcast ? 8 : i.field(14, 14) ? 4 : 1, broadcast);
}

// What Src gets of a 32-bit datum of Dst.
uint32_t source_of_32(uint32_t value, Style style, bool low) {
    if (low) value = value << 16 | (value & 0xFFFF);
    if (style == Style::BF16) return dst_to_src_wide(value >> 16);
    if (style == Style::FP16) return dst_to_src_narrow(value >> 16);
    return low ? value & 0x1FFF : dst_to_src_tf32(value);
}

}  // namespace

void source_to_dst(const Instruction& i) {
    const Configuration& c = i.configuration;
    const Format format = formats(c).a;
    const bool narrow = c.thread(own::force_fp16) || is_narrow(format), flush = !c(alu::keep_denormals);
    const bool low = i.field(23, 23), tf32 = format == Format::TF32, wide = tf32 || low;
    const bool from_a = opcode(i.word) == MOVA2D, column_0 = !from_a && i.field(12, 12);
    const SourceBank& bank = from_a ? i.a() : i.b();
    const Rows r = rows_to_dst(i);
    for (uint32_t k = 0; k < r.count; ++k) {
        dst::settle(i.matrix, r.dst + k, wide);
        for (uint32_t j = 0; j < 16; ++j) {
            if (blocked(i, j)) continue;
            uint32_t x = bank.rows[r.source + k * r.source_step][column_0 ? 0 : j];
            if (flush && !(x & 255)) x = 0;
            const uint32_t half = narrow ? src_to_dst_narrow(x) : src_to_dst_wide(x);
            const uint32_t rest = (x >> 8 & 7) << 13 | (low ? half : 0);
            if (tf32)
                dst::write32(i.matrix, r.dst + k, j, half << 16 | rest);
            else if (low)
                dst::write32(i.matrix, r.dst + k, j, (dst::read32(i.matrix, r.dst + k, j) & 0xFFFF0000) | half);
            else
                dst::write16(i.matrix, r.dst + k, j, half);
        }
    }
    apply_address_mode(c, i.counters, i.field(16, 15));
}

void dst_to_source(const Instruction& i) {
    const Configuration& c = i.configuration;
    const bool forced = c.thread(own::force_fp16), wide = !forced && (c(alu::fp32) || c(alu::int8)),
               low = i.field(23, 23);
    const Style style = forced ? Style::FP16 : style_of(formats(c).a);
    if (!wide && (low || style == Style::TF32))
        i.fault("not-modelled", "Dst of 16 bits holds neither TF32 nor a lower half", "set ALU_ACC_CTRL_Fp32_enabled");
    const bool to_a = opcode(i.word) == MOVD2A;
    SourceBank& bank = to_a ? i.a() : i.b();
    const Rows r = rows(i, to_a ? i.counters.a : i.counters.b, i.field(13, 13) ? 4 : 1, false);
    for (uint32_t k = 0; k < r.count; ++k)
        for (uint32_t j = 0; j < 16; ++j) {
            if (blocked(i, j)) continue;
            uint32_t& to = bank.rows[r.source + k][j];
            const uint32_t half = wide ? 0 : dst::read16(i.matrix, r.dst + k, j);
            to = wide                   ? source_of_32(dst::read32(i.matrix, r.dst + k, j), style, low)
                 : style == Style::FP16 ? dst_to_src_narrow(half)
                                        : dst_to_src_wide(half);
        }
    apply_address_mode(c, i.counters, i.field(16, 15));
}

// Datums are cut to what the format has: of a mantissa of BF16 the upper 7 bits, of an exponent of FP16 the lower 5
// (page of MOVB2A). SrcA need not be the matrix unit's: who programs it waits by STALLWAIT.
void source_to_source(const Instruction& i) {
    const Configuration& c = i.configuration;
    const Style style = style_of(formats(c).a);
    const uint32_t cut = style == Style::BF16 ? 7u << 8 : style == Style::FP16 ? 7u << 5 : 0;
    const uint32_t count = i.field(13, 13) ? 4 : 1, aligned = 64 - count;
    const uint32_t to = (i.field(22, 17) + i.counters.a) & aligned, from = (i.field(5, 0) + i.counters.b) & aligned;
    for (uint32_t k = 0; k < count; ++k)
        for (uint32_t j = 0; j < 16; ++j) {
            if (blocked(i, j)) continue;
            const uint32_t x = i.b().rows[from + k][j];
            i.a().rows[to + k][j] = !c(alu::keep_denormals) && !(x & 255) ? 0 : x & ~cut;
        }
    apply_address_mode(c, i.counters, i.field(16, 15));
}

// The operand cache between SrcB and the unit, which this model does not have, loses its content (page of GATESRCRST).
void invalidate(const Instruction&) {}

void transpose(const Instruction& i) {
    for (uint32_t r = 0; r < 16; ++r)
        for (uint32_t j = 0; j < r; ++j) std::swap(i.b().rows[16 + r][j], i.b().rows[16 + j][r]);
}

}  // namespace polyloom::tensix::matrix
