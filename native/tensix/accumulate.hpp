// SPDX-License-Identifier: Apache-2.0
// What the matrix unit computes in floating point, bit by bit: products of mantissa parts in groups of eight, aligned
// to the largest exponent of their group, then the sums and Dst aligned, added and rounded to Dst's format. No IEEE:
// half rounds up or away, denormals are zero, there is no NaN. Source: the public functional models (facts 1.7). Eight
// columns are computed at once; the shifts within groups are exact multiplications by powers of two.
#pragma once

#include <cstdint>

// All of it is inlined into whoever computes, also where that is compiled for wider instructions.
#define POLYLOOM_INLINE [[gnu::always_inline]] inline
#pragma GCC diagnostic ignored "-Wpsabi"

namespace polyloom::tensix::accumulate {

using I = int32_t __attribute__((vector_size(32)));
using U = uint32_t __attribute__((vector_size(32)));
using F = float __attribute__((vector_size(32)));
constexpr int OCTET = 8, OCTETS = 16 / OCTET;  // of the 16 columns

// How results are kept: 8 bits of exponent, or 5 as FP16 has; in 32 bits, or in 16.
struct Kept {
    bool wide_exponent, fp32;
    bool sign_bug = true;  // -1 unit gets an exponent 27 too large: Wormhole
};

// An operand of a product: the part of the mantissa of this fidelity phase, and the exponent; what is zero has an
// exponent so low that it never is the largest.
constexpr int32_t NEVER = -4096;

// One group's sum: (mantissa << 13) and sign, with its exponent.
struct Sum {
    I exponent{};
    U mantissa{};
    I negative{};  // -1 or 0
};

POLYLOOM_INLINE I splat(int32_t x) { return I{} + x; }
POLYLOOM_INLINE I most(I a, I b) { return a > b ? a : b; }
POLYLOOM_INLINE I least(I a, I b) { return a < b ? a : b; }

// (x + half) >> d, less one unit before where x is negative; 0 where all bits leave.
POLYLOOM_INLINE U align(U x, I negative, I distance) {
    const U by = U(least(distance, splat(31)));
    const U half = (U(splat(1)) << by) >> 1;
    return (x + half + U(negative & (distance > 0))) >> by;
}

POLYLOOM_INLINE I magnitude_bits(U x) {  // the position of the highest bit; x > 0 and below 2**31
    const F f = __builtin_convertvector(I(x & ~(x >> 1)), F);
    return I(U(f) >> 23) - 127;
}

// `exponent` and `mantissa` of the result as a pattern: sign, 8 bits of exponent, 23 of mantissa.
POLYLOOM_INLINE U encode(U mantissa, I exponent, I negative, const Kept& kept) {
    const int tail = kept.wide_exponent ? 16 : 13;
    I shift = 23 - magnitude_bits(mantissa);
    if (kept.sign_bug) shift -= (negative & I(mantissa == 1)) & 27;
    exponent -= shift;
    if (!kept.fp32) shift -= tail;
    const I right = most(-shift, splat(0));
    const U half = (U(splat(1)) << U(right)) >> 1;
    mantissa = ((mantissa + half) >> U(right)) << U(most(shift, splat(0)));
    if (!kept.fp32) mantissa <<= tail;
    exponent -= I((mantissa & 0x1000000) != 0);
    const U sign = U(negative) << 31;
    const bool narrow = !kept.fp32 && !kept.wide_exponent;
    const I over = exponent >= (narrow ? 32 : 255);
    const U limit = U(splat(narrow ? 0x0FFFE000 : 0x7F800000));
    const U value = over ? limit : (U(exponent) << 23 | (mantissa & 0x7FFFFF));
    return exponent > 0 ? sign | value : U{};
}

// Dst plus both sums. `dst` is such a pattern too.
POLYLOOM_INLINE U add(const Sum& first, const Sum& second, U dst, const Kept& kept) {
    const I own = I(dst >> 23 & 255);
    const I dst_negative = I(dst) >> 31;
    const U held = own > 0 ? (dst & 0x7FFFFF) | 0x800000 : U{};
    const I exponent = most(most(first.exponent, second.exponent), own);
    U a = align(first.mantissa, first.negative, exponent - first.exponent);
    U b = align(second.mantissa, second.negative, exponent - second.exponent);
    U c = align(held, I{}, exponent - own);
    if (!kept.fp32) {
        a = (a + 4096 + U(first.negative)) & ~0x1FFFu;
        b = (b + 4096 + U(second.negative)) & ~0x1FFFu;
        c = (c + 4096) & ~0x1FFFu;
    }
    const I total = ((I(a) ^ first.negative) - first.negative) + ((I(b) ^ second.negative) - second.negative) +
                    ((I(c) ^ dst_negative) - dst_negative);
    const I negative = total >> 31;
    const U size = U((total ^ negative) - negative);
    const I something = I(size != 0) & (exponent > 0);
    return something ? encode(something ? size : U(splat(1)), exponent, negative, kept) : U{};
}

// The row of SrcA or SrcB that a product reads.
struct Operands {
    I exponent[OCTETS];
    F mantissa[OCTETS];  // integers below 2**7
    I negative[OCTETS];  // -1 or 0
};

// A group: eight rows of SrcA, each times one datum of SrcB. `least_exponent` is what zeros have.
POLYLOOM_INLINE Sum group(const Operands* a, const int32_t* exponents, const float* mantissas, const int32_t* negatives,
                          int octet, int32_t least_exponent) {
    I largest = splat(least_exponent);
    for (int k = 0; k < 8; ++k) largest = most(largest, a[k].exponent[octet] + exponents[k]);
    I total{};
    for (int k = 0; k < 8; ++k) {
        const I distance = least(largest - (a[k].exponent[octet] + exponents[k]), splat(60));
        const F scale = F((127 - distance) << 23);
        const I rounded = __builtin_convertvector(a[k].mantissa[octet] * mantissas[k] * scale + 0.5f, I);
        const I flip = a[k].negative[octet] ^ negatives[k];
        total += (rounded ^ flip) - flip;
    }
    const I something = largest > 0;
    Sum made;
    made.negative = (total >> 31) & something;
    made.mantissa = U(((total ^ made.negative) - made.negative) << 13) & U(something);
    made.exponent = largest & something;
    return made;
}

// What turns the sum of two exponents into that of their product, and the least exponent a sum has.
POLYLOOM_INLINE int32_t product_bias(const Kept& kept, uint32_t phase) {
    const int32_t bias = kept.wide_exponent ? -127 : kept.fp32 ? 97 : -15;
    return bias - (phase & 1 ? 5 : 0) - (phase & 2 ? 7 : 0);
}

}  // namespace polyloom::tensix::accumulate
