// SPDX-License-Identifier: Apache-2.0
// GMPOOL: the largest of each column of 16 rows of SrcA and a row of Dst, scaled by the exponents of a row of SrcB; the
// three rows after it become 0. With ArgMax it leaves which of the first eight rows it was, in the lower bits of a
// 32-bit Dst. The comparison is of sign and magnitude; an undefined row of Dst is minus infinity. Source: the public
// instruction page, followed to the letter also where FP16 goes to 32-bit Dst.
#include "matrix_unit.hpp"

namespace polyloom::tensix::matrix {
namespace {

enum class Held : uint8_t { INT32, FP16, BF16, TF32 };

struct Datum {
    uint32_t sign = 0, exponent = 0, magnitude = 0;  // 1, 9 and 10 bits

    [[nodiscard]] int32_t rank() const {
        const auto size = int32_t(exponent << 10 | magnitude);
        return sign ? -size : size;
    }
};

Held held(const Formats& f, bool index) {
    switch (f.style) {
        case Style::INT8: return Held::INT32;
        case Style::FP16: return f.dst_32 && !index ? Held::TF32 : Held::FP16;
        case Style::TF32: return index ? Held::INT32 : f.dst_32 ? Held::TF32 : Held::BF16;
        default: return f.dst_32 && !index ? Held::TF32 : Held::BF16;
    }
}

Datum of_dst(uint32_t x, Held as) {
    const uint32_t sign = x >> 31;
    if (as == Held::INT32) return {sign, (x >> 10 & 0x3F) + ((x >> 24 & 7) << 6), x & 0x3FF};
    if (as == Held::FP16) return {sign, (x >> 16 & 0x1F) + 15, x >> 21 & 0x3FF};
    return {sign, (x >> 16 & 0xFF) + 127, (x >> 24 & 0x7F) << 3 | (as == Held::TF32 ? x >> 13 & 7 : 0)};
}

// Exponents wrap where the scale is not 1.
uint32_t to_dst(const Datum& d, Held as) {
    const uint32_t sign = d.sign << 31;
    if (as == Held::INT32) return sign | (d.exponent & 7) << 10 | d.magnitude;
    if (as == Held::FP16) return d.exponent & 0x3F ? sign | d.magnitude << 21 | ((d.exponent - 15) & 0x1F) << 16 : 0;
    if (!d.exponent) return 0;
    const uint32_t low = as == Held::TF32 ? (d.magnitude & 7) << 13 : 0;
    return sign | (d.magnitude & 0x3F8) << 21 | ((d.exponent - 127) & 0xFF) << 16 | low;
}

Datum scaled(uint32_t a, uint32_t b, Style style) {
    if (!(b & 255)) return {1, 511, 1023};
    if (!(a & 255)) return {};
    const uint32_t sign = a >> 18 & 1, magnitude = a >> 8 & 0x3FF;
    if (style == Style::INT8) return {sign, 0, magnitude};
    if (style == Style::FP16) return {sign, (a & 31) + (b & 31), magnitude};
    return {sign, (a & 255) + (b & 255), style == Style::BF16 ? magnitude & 0x3F8 : magnitude};
}

struct Column {
    const Instruction& i;
    Style style;
    uint32_t a_row, b_row, j;
};

// The largest, and the index that the hardware makes of its row.
uint32_t largest(const Column& c, uint32_t before, Held as, bool with_index) {
    constexpr uint8_t INDEX[8] = {0, 3, 6, 1, 4, 7, 2, 5};
    Datum most = of_dst(before, as);
    uint32_t index = before & 0xFF;
    const uint32_t phase = (before + 0x100) & 0xF00;
    for (uint32_t k = 0; k < 16; ++k) {
        const uint32_t r = k < 8 ? k ^ 4 : k;  // ties go to the last in this order
        const Datum d = scaled(c.i.a().rows[(c.a_row + r) & 63][c.j], c.i.b().rows[c.b_row][r], c.style);
        if (d.rank() < most.rank()) continue;
        most = d;
        if (r < 8) index = ((phase >> 4) + INDEX[r]) & 0xFF;
    }
    if (!with_index) return to_dst(most, as);
    return (as == Held::INT32 ? 0 : to_dst(most, as)) | phase | index;
}

}  // namespace

void pool(const Instruction& i) {
    const bool with_index = i.field(14, 14);
    const Formats f = formats(i.configuration);
    const Held as = held(f, with_index);
    const uint32_t first = dst_row(i.configuration, i.counters, i.word) & 0x3FC;
    MatrixState& m = i.matrix;
    for (uint32_t j = 0; j < 16; ++j) {
        const uint32_t before = f.dst_32 ? dst::read32(m, first, j, ~0u) : dst::read16(m, first, j, ~0u) << 16;
        const uint32_t made =
            largest({i, f.style, i.counters.a & 0x30, i.counters.b & 0x38, j}, before, as, with_index);
        if (!f.dst_32)
            dst::write16(m, first, j, made >> 16);
        else
            dst::write32(m, first, j, made);
        for (uint32_t r = 1; r < 4; ++r) {
            const uint32_t rest = f.dst_32 && with_index ? (dst::read32(m, first + r, j) + 0x100) & 0xF00 : 0;
            f.dst_32 ? dst::write32(m, first + r, j, rest) : dst::write16(m, first + r, j, 0);
        }
    }
    for (uint32_t r = 0; r < 4; ++r) dst::mark(m, first + r, f.dst_32, true);
    flip(i);
    apply_address_mode(i.configuration, i.counters, i.field(16, 15));
}

}  // namespace polyloom::tensix::matrix
