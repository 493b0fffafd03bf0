// SPDX-License-Identifier: Apache-2.0
// Results of the host's arithmetic (IEEE 754-2019), in words. Singles are the host's own operations. Smaller formats are
// computed in double precision and rounded once more, which is exact:
// - Sums, differences and products of two words of at most 11 bits have at most 41 bits, so that doubles hold them.
// - A quotient or root that is no midpoint of two neighbours is at least 2^-25 of itself away from every midpoint, and a
//   double's error is at most 2^-53 (Figueroa, When is double rounding innocuous?, 1995). Midpoints are doubles.
// - A fused sum is rounded to odd first, which keeps on which side of a midpoint it is (Boldo and Melquiond, Emulation
//   of a FMA and correctly rounded sums, 2008): 53 bits are at least two more than the format has.
// NaNs that arithmetic makes are one, as in the circuit.
#pragma once
#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "slices.h"

constexpr int PLACES = EXP + MAN + 1, BIAS = (1 << (EXP - 1)) - 1, LEAST = 1 - BIAS - MAN;
constexpr uint32_t SIGN = 1u << (EXP + MAN), INFINITE = ((1u << EXP) - 1) << MAN, QUIET = INFINITE | 1u << (MAN - 1);
constexpr bool IS_SINGLE = EXP == 8;
using Real = std::conditional_t<IS_SINGLE, float, double>;

template <typename To, typename From>
inline To bits_of(From from) {
    static_assert(sizeof(To) == sizeof(From));
    To to;
    std::memcpy(&to, &from, sizeof to);
    return to;
}

inline double power_of_two(int64_t exponent) { return bits_of<double>(uint64_t(exponent + 1023) << 52); }

inline Real decode(uint32_t word) {
    if constexpr (IS_SINGLE) {
        return bits_of<float>(word);
    } else {
        const uint32_t magnitude = word & (SIGN - 1), field = magnitude >> MAN;
        const int32_t fraction = int32_t(magnitude & ((1u << MAN) - 1)) + (field ? 1 << MAN : 0);
        const double finite = double(fraction) * power_of_two(int64_t(field ? field - 1 : 0) + LEAST);
        const double size = magnitude < INFINITE ? finite : magnitude == INFINITE ? INFINITY : NAN;
        return word & SIGN ? -size : size;
    }
}

// The sum of |value| and a power of two whose last place is that of the result rounds to the result's last place; the
// difference of their bits counts these places, and so does the code of a magnitude.
inline uint32_t encode(Real value) {
    if constexpr (IS_SINGLE) {
        return value != value ? QUIET : bits_of<uint32_t>(value);
    } else {
        const uint64_t bits = bits_of<uint64_t>(value), size = bits & ~(1ull << 63);
        const int64_t exponent = int64_t(size >> 52) - 1023 - MAN, last = exponent > LEAST ? exponent : LEAST;
        const double anchor = power_of_two((last > BIAS ? BIAS : last) + 52);
        const int64_t places = bits_of<int64_t>(bits_of<double>(size) + anchor) - bits_of<int64_t>(anchor);
        const int64_t code = places + ((last - LEAST) << MAN);
        const uint32_t magnitude = code < int64_t(INFINITE) ? uint32_t(code) : INFINITE;
        return value != value ? QUIET : magnitude | (bits >> 63 ? SIGN : 0);
    }
}

inline Real fused(Real x, Real y, Real z) {
    if constexpr (IS_SINGLE) {
        return std::fma(x, y, z);
    } else {
        // The error of a sum is a double (Knuth, The Art of Computer Programming, 4.2.2, theorem B).
        const double product = x * y, sum = product + z, part = sum - product;
        const double error = (product - (sum - part)) + (z - part);
        const uint64_t bits = bits_of<uint64_t>(sum);
        const bool is_inexact = error < 0 || error > 0, is_above = (error > 0) == (sum > 0);
        return is_inexact && !(bits & 1) ? bits_of<double>(is_above ? bits + 1 : bits - 1) : sum;
    }
}

// Saturated, of a NaN 0, or the greatest one where it is the nearest integer. Conversions to 32 signed bits are those
// that processors have as vectors.
inline uint32_t integer(Real value, double low, double high, bool is_nearest) {
    const double exact = value, whole = is_nearest ? std::nearbyint(exact) : std::trunc(exact);
    const double bounded = whole < low ? low : whole > high ? high : whole;
    const double chosen = exact != exact ? (is_nearest ? high : 0) : bounded;
    return low < 0 ? uint32_t(int32_t(chosen)) : uint32_t(int32_t(chosen - 0x1p31)) + (1u << 31);
}

#define EACH(value)                                                        \
    for (int n = 0; n < COUNT; ++n) {                                      \
        [[maybe_unused]] const Real x = decode(a[n]), y = decode(b[n]);    \
        result[n] = (value);                                               \
    }                                                                      \
    return true;

// Of a block of operands, by the number of the operation (native/tcpa/operations.hpp); false for an unknown one.
inline bool reference(int operation, bool is_signed, const uint32_t* __restrict a, const uint32_t* __restrict b,
                      const uint32_t* __restrict c, uint32_t* __restrict result) {
    switch (operation) {
        case 1: EACH(encode(x + y))
        case 2: EACH(encode(x - y))
        case 3: EACH(encode(x * y))
        case 4: EACH(encode(x / y))
        case 5: EACH(x != x || y < x ? b[n] : a[n])
        case 6: EACH(x != x || y > x ? b[n] : a[n])
        case 12: EACH((x == y) | (x != y) << 1 | (x < y) << 2 | (x <= y) << 3 | (x > y) << 4 | (x >= y) << 5)
        case 19: EACH(a[n] ^ SIGN)
        case 20: EACH(a[n] & (SIGN - 1))
        case 21: EACH(encode(fused(x, y, decode(c[n]))))
        case 22: EACH(encode(std::sqrt(x)))
        case 26: EACH(integer(x, -0x1p7, 0x1p7 - 1, false))
        case 27: EACH(integer(x, -0x1p15, 0x1p15 - 1, false))
        case 28: EACH(integer(x, -0x1p31, 0x1p31 - 1, false))
        case 29: EACH(integer(x, 0, 0x1p8 - 1, false))
        case 30: EACH(integer(x, 0, 0x1p16 - 1, false))
        case 31: EACH(integer(x, 0, 0x1p32 - 1, false))
        case 32: EACH(x != 0)
        case 33: EACH(encode(is_signed ? Real(int32_t(a[n])) : Real(a[n])))
        case 36: EACH(integer(x, -0x1p31, 0x1p31 - 1, true))
        default: return false;
    }
}
#undef EACH
