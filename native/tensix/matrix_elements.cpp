// SPDX-License-Identifier: Apache-2.0
// ELWMUL, ELWADD and ELWSUB: eight rows of SrcA and SrcB, element by element, onto eight rows of Dst. ELWMUL always
// adds to Dst; the others do where the instruction says so. SrcB's row or its column 0 may be broadcast.
#include <algorithm>

#include "source.hpp"

namespace polyloom::tensix::matrix {
namespace {

using namespace accumulate;

struct Term {
    int32_t exponent = 0, mantissa = 0, negative = 0;  // negative: -1 or 0
};

Term product(const Datum& a, const Datum& b, uint32_t phase, int32_t bias) {
    const int32_t exponent = a.exponent + b.exponent + bias;
    if (!a.exponent || !b.exponent || exponent <= 0) return {std::max(bias, 0), 0, 0};
    return {exponent, part_of_a(a.mantissa, phase) * part_of_b(b.mantissa, phase), -(a.negative ^ b.negative)};
}

// The smaller is shifted to the larger's exponent, half rounding away.
Term sum(Datum a, Datum b, uint32_t phase, bool rebias) {
    const auto size = [](const Datum& d) { return d.exponent << 10 | d.mantissa; };
    if (size(a) < size(b)) std::swap(a, b);
    const auto whole = [&](const Datum& d) { return size(d) || d.negative ? d.mantissa | 0x400 : 0; };
    const int32_t away = std::min(a.exponent - b.exponent, 12);
    const int32_t small = (whole(b) + ((1 << away) >> 1)) >> away;
    int32_t exponent = a.exponent;
    if (rebias) exponent = exponent ? exponent + 112 : 97;
    exponent -= (phase & 1 ? 5 : 0) + (phase & 2 ? 7 : 0);
    return {exponent, a.negative == b.negative ? whole(a) + small : whole(a) - small, -a.negative};
}

struct Source {
    const Instruction& i;
    uint32_t a_row, b_row;
    bool row, column, keeps_denormals;

    [[nodiscard]] uint32_t a(uint32_t r, uint32_t j) const { return i.a().rows[a_row + r][j]; }
    [[nodiscard]] uint32_t b(uint32_t r, uint32_t j) const {
        return i.b().rows[(b_row + (row ? 0 : r)) & 63][column ? 0 : j];
    }
};

Term term(const Source& s, const Formats& f, uint32_t r, uint32_t j) {
    Datum a = datum(s.a(r, j), f.style), b = datum(s.b(r, j), f.style);
    const uint32_t phase = s.i.phase();
    if (opcode(s.i.word) == ELWMUL) return product(a, b, phase, product_bias(kept(f), phase));
    if (opcode(s.i.word) == ELWSUB) b.negative ^= 1;
    if (!a.exponent) a = {};
    if (!b.exponent && !s.keeps_denormals) b = {};
    return sum(a, b, phase, f.dst_32 && f.style == Style::FP16);
}

int64_t integral(const Source& s, uint32_t r, uint32_t j) {
    const uint32_t phase = s.i.phase();
    if (opcode(s.i.word) == ELWMUL)
        return int64_t(integer(s.a(r, j), integer_mask_a(phase))) * integer(s.b(r, j), integer_mask_b(phase));
    const int32_t b = integer(s.b(r, j));
    return integer(s.a(r, j)) + (opcode(s.i.word) == ELWSUB ? -b : b);
}

Sum octet_of(const Source& s, const Formats& f, uint32_t r, int octet) {
    Sum made;
    for (int k = 0; k < OCTET; ++k) {
        const Term t = term(s, f, r, uint32_t(OCTET * octet + k));
        made.exponent[k] = t.exponent, made.mantissa[k] = uint32_t(t.mantissa) << 13, made.negative[k] = t.negative;
    }
    return made;
}

}  // namespace

void elementwise(const Instruction& i) {
    const bool multiplies = opcode(i.word) == ELWMUL, row = i.field(20, 20), onto = multiplies || i.field(21, 21);
    refuse_unmodelled(i, multiplies);
    const Formats f = formats(i.configuration);
    const Source s{i,   i.counters.a & 0x38,   i.counters.b & (row ? 0x3F : 0x38),
                   row, bool(i.field(19, 19)), bool(i.configuration(alu::keep_denormals))};
    const uint32_t first = dst_row(i.configuration, i.counters, i.word) & 0x3F8;
    for (uint32_t r = 0; r < 8; ++r) {
        if (f.style != Style::INT8) {
            accumulate_row(i.matrix, first + r, f, !onto,
                           [&](int octet) { return std::pair(octet_of(s, f, r, octet), Sum{}); });
            continue;
        }
        for (uint32_t j = 0; j < 16; ++j) {
            const int64_t held = onto ? integer_of_dst(dst::read32(i.matrix, first + r, j)) : 0;
            dst::write32(i.matrix, first + r, j, integer_to_dst(held + integral(s, r, j)));
        }
        dst::mark32(i.matrix, first + r, true);
    }
    flip(i);
    apply_address_mode(i.configuration, i.counters, i.field(16, 15));
}

}  // namespace polyloom::tensix::matrix
