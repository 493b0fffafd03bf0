// SPDX-License-Identifier: Apache-2.0
// MVMUL and GAPOOL: rows of SrcB times 16 rows of SrcA, onto rows of Dst. MVMUL with a broadcast row of SrcB writes
// every other row of seven; GAPOOL has four rows.
#include <algorithm>

#include "source.hpp"

namespace polyloom::tensix::matrix {
namespace {

using namespace accumulate;

struct Place {
    uint32_t a, b, dst, rows, step;
    bool broadcast;
};

Place place(const Instruction& i) {
    const bool pools = opcode(i.word) == GAPOOL, broadcast = !pools && i.field(19, 19);
    const uint32_t rows = pools ? 4 : broadcast ? 7 : 8;
    const uint32_t at = dst_row(i.configuration, i.counters, i.word) & (0x400 - rows);
    return {i.counters.a & 0x38, i.counters.b & (broadcast ? 0x3F : 0x38), at, rows, broadcast ? 2u : 1u, broadcast};
}

// Sixteen rows of SrcA, each ready to be multiplied by one datum of SrcB.
POLYLOOM_INLINE void load_a(const SourceBank& bank, uint32_t first, Style style, uint32_t phase, Operands* made) {
    for (uint32_t k = 0; k < 16; ++k)
        for (uint32_t j = 0; j < 16; ++j) {
            const Datum d = datum(bank.rows[(first + k) & 63][j], style);
            made[k].exponent[j / OCTET][j % OCTET] = d.exponent ? d.exponent : NEVER;
            made[k].mantissa[j / OCTET][j % OCTET] = d.exponent ? float(part_of_a(d.mantissa, phase)) : 0;
            made[k].negative[j / OCTET][j % OCTET] = -d.negative;
        }
}

POLYLOOM_INLINE void floating(const Instruction& i, const Place& p, const Formats& f) {
    const uint32_t phase = i.phase();
    const int32_t bias = product_bias(kept(f), phase), lowest = std::max(bias, 0);
    Operands a[16];
    load_a(i.a(), p.a, f.style, phase, a);
    for (uint32_t r = 0; r < p.rows; r += p.step) {
        const auto& b = i.b().rows[(p.b + (p.broadcast ? 0 : r)) & 63];
        int32_t exponents[16], negatives[16];
        float mantissas[16];
        for (uint32_t k = 0; k < 16; ++k) {
            const Datum d = datum(b[k], f.style);
            exponents[k] = d.exponent ? d.exponent + bias : NEVER;
            mantissas[k] = d.exponent ? float(part_of_b(d.mantissa, phase)) : 0;
            negatives[k] = -d.negative;
        }
        accumulate_row(i.matrix, p.dst + r, f, false, [&](int octet) __attribute__((always_inline)) {
            return std::pair(group(a, exponents, mantissas, negatives, octet, lowest),
                             group(a + 8, exponents + 8, mantissas + 8, negatives + 8, octet, lowest));
        });
    }
}

// The same code for processors that shift each lane by its own distance, chosen when it runs.
#if defined(__x86_64__)
[[gnu::target("avx2")]] void floating_avx2(const Instruction& i, const Place& p, const Formats& f) {
    floating(i, p, f);
}
const bool HAS_AVX2 = (__builtin_cpu_init(), __builtin_cpu_supports("avx2"));
#else
void floating_avx2(const Instruction& i, const Place& p, const Formats& f) { floating(i, p, f); }
constexpr bool HAS_AVX2 = false;
#endif
void floating_baseline(const Instruction& i, const Place& p, const Formats& f) { floating(i, p, f); }

void integral(const Instruction& i, const Place& p) {
    const uint32_t mask_a = integer_mask_a(i.phase()), mask_b = integer_mask_b(i.phase());
    int32_t a[16][16];
    for (uint32_t k = 0; k < 16; ++k)
        for (uint32_t j = 0; j < 16; ++j) a[k][j] = integer(i.a().rows[(p.a + k) & 63][j], mask_a);
    for (uint32_t r = 0; r < p.rows; r += p.step) {
        int32_t sums[16] = {};
        for (uint32_t k = 0; k < 16; ++k) {
            const int32_t b = integer(i.b().rows[(p.b + (p.broadcast ? 0 : r)) & 63][k], mask_b);
            for (uint32_t j = 0; j < 16; ++j) sums[j] += a[k][j] * b;
        }
        for (uint32_t j = 0; j < 16; ++j) {
            const int64_t held = integer_of_dst(dst::read32(i.matrix, p.dst + r, j));
            dst::write32(i.matrix, p.dst + r, j, integer_to_dst(held + sums[j]));
        }
        dst::mark32(i.matrix, p.dst + r, true);
    }
}

}  // namespace

void refuse_unmodelled(const Instruction& i, bool products) {
    const Configuration& c = i.configuration;
    if (c(alu::stochastic))
        i.fault("not-modelled", "stochastic rounding of the matrix unit is not modelled",
                "clear ALU_ROUNDING_MODE_Fpu_srnd_en");
    if (products && c(alu::keep_denormals))
        i.fault("not-modelled", "products of denormals are not modelled", "clear ALU_ACC_CTRL_Zero_Flag_disabled_src");
}

void multiply(const Instruction& i) {
    refuse_unmodelled(i, true);
    const Formats f = formats(i.configuration);
    const Place p = place(i);
    if (f.style == Style::INT8)
        integral(i, p);
    else
        HAS_AVX2 ? floating_avx2(i, p, f) : floating_baseline(i, p, f);
    flip(i);
    apply_address_mode(i.configuration, i.counters, i.field(16, 15));
}

}  // namespace polyloom::tensix::matrix
