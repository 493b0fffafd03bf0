// SPDX-License-Identifier: Apache-2.0
// Reading SrcA and SrcB as operands: fields in the order of the hardware, the part of a mantissa or magnitude that a
// fidelity phase multiplies, and 32-bit patterns of Dst (sign, 8 bits of exponent, 23 of mantissa; FP16 keeps its own
// exponent in the low 5 of the 8).
#pragma once

#include <cstring>

#include "accumulate.hpp"
#include "matrix_unit.hpp"

namespace polyloom::tensix::matrix {

struct Datum {
    int32_t negative, exponent, mantissa;  // mantissa: 10 bits, no hidden one
};

POLYLOOM_INLINE Datum datum(uint32_t bits, Style style) {
    const uint32_t kept = style == Style::BF16 ? 0x3F8 : 0x3FF;
    const uint32_t exponent = bits & (style == Style::FP16 ? 31 : 255);
    return {int32_t(bits >> 18 & 1), int32_t(exponent), int32_t(bits >> 8 & kept)};
}

// SrcA multiplies 5 bits at a time, SrcB 7.
POLYLOOM_INLINE int32_t part_of_a(int32_t mantissa, uint32_t phase) {
    return phase & 1 ? mantissa >> 1 & 31 : (mantissa | 0x400) >> 6;
}
POLYLOOM_INLINE int32_t part_of_b(int32_t mantissa, uint32_t phase) {
    return phase & 2 ? (mantissa & 15) << 3 : (mantissa | 0x400) >> 4;
}

// Integers: sign and 10 bits of magnitude; an exponent of 0 means 0. Phase 3 has the low bits of both.
POLYLOOM_INLINE int32_t integer(uint32_t bits, uint32_t mask = 1023) {
    if (!(bits & 255)) return 0;
    const auto magnitude = int32_t(bits >> 8 & mask);
    return bits >> 18 & 1 ? -magnitude : magnitude;
}
constexpr uint32_t integer_mask_a(uint32_t phase) { return phase & 1 ? 0x1F : 0xE0; }
constexpr uint32_t integer_mask_b(uint32_t phase) { return phase & 2 ? 0xF : 0x3F0; }

POLYLOOM_INLINE int32_t integer_of_dst(uint32_t bits) {
    const uint32_t x = fp32_of_dst(bits);
    const auto magnitude = int32_t(x & 0x7FFFFFFF);
    return x >> 31 ? -magnitude : magnitude;
}
POLYLOOM_INLINE uint32_t integer_to_dst(int64_t x) {
    constexpr int64_t most = 0x7FFFFFFF;
    x = x > most ? most : x < -most ? -most : x;
    return fp32_to_dst(x < 0 ? 0x80000000u | uint32_t(-x) : uint32_t(x));
}

// The pattern that the accumulator works on, of a datum of Dst, and back.
POLYLOOM_INLINE uint32_t pattern_of_dst(const MatrixState& m, uint32_t row, uint32_t column, const Formats& f) {
    if (f.dst_32) return fp32_of_dst(dst::read32(m, row, column));
    const uint32_t x = dst::read16(m, row, column);
    if (f.style != Style::FP16) return uint32_t(bf16_of_dst(x)) << 16;
    const uint32_t half = fp16_of_dst(x);
    return (half & 0x8000) << 16 | (half & 0x7FFF) << 13;
}
POLYLOOM_INLINE void pattern_to_dst(MatrixState& m, uint32_t row, uint32_t column, uint32_t x, const Formats& f) {
    if (f.dst_32) return dst::write32(m, row, column, fp32_to_dst(x));
    const uint32_t half =
        f.style == Style::FP16 ? fp16_to_dst((x >> 16 & 0x8000) | (x >> 13 & 0x7FFF)) : bf16_to_dst(x >> 16);
    dst::write16(m, row, column, half);
}

POLYLOOM_INLINE accumulate::Kept kept(const Formats& f) { return {f.style != Style::FP16, f.dst_32}; }

// One row of Dst plus what each of its columns gets, written back.
template <typename Sums>
POLYLOOM_INLINE void accumulate_row(MatrixState& m, uint32_t row, const Formats& f, bool from_zero, Sums&& sums) {
    using namespace accumulate;
    uint32_t held[16] = {};
    if (!from_zero)
        for (uint32_t j = 0; j < 16; ++j) held[j] = pattern_of_dst(m, row, j, f);
    for (int octet = 0; octet < OCTETS; ++octet) {
        uint32_t* h = held + OCTET * octet;
        const auto [first, second] = sums(octet);
        U before;
        std::memcpy(&before, h, sizeof before);
        const U made = add(first, second, before, kept(f));
        std::memcpy(h, &made, sizeof made);
    }
    for (uint32_t j = 0; j < 16; ++j) pattern_to_dst(m, row, j, held[j], f);
    dst::mark(m, row, f.dst_32, true);
}

void refuse_unmodelled(const Instruction& i, bool products);

}  // namespace polyloom::tensix::matrix
