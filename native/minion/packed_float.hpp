// SPDX-License-Identifier: Apache-2.0
// What packed instructions do to one lane that scalar ones do not have: conversions of small formats, fractions,
// rounding, and the functions of the transcendental unit. Flags are bits of fcsr. Sources: ET Programmer's Reference
// Manual, chapter 5; for F10, F11, UN and SN, which it only names, the facts.
#pragma once

#include "single.hpp"

namespace polyloom::minion::packed {

using single::Bits;

using Half = riscv::Format<uint32_t, float, 11, 5>;

// From and to a half in the low bits: subnormals on either side become zeros.
Bits from_half(uint32_t a, uint32_t& flags);
uint32_t to_half(Bits a, int mode, uint32_t& flags);

// Floats without a sign, of 5 bits of exponent and FRACTION of significand. What is negative becomes zero, what is too
// large the largest finite one, and the rest is truncated; no flag is set.
template <unsigned FRACTION>
Bits from_small(uint32_t a) {
    const uint32_t exponent = a >> FRACTION & 31, fraction = a & ((1u << FRACTION) - 1);
    if (exponent == 31) return fraction ? riscv::Single::NAN_BITS : riscv::Single::INFINITE;
    return exponent ? (exponent + 112) << 23 | fraction << (23 - FRACTION) : 0;
}
template <unsigned FRACTION>
uint32_t to_small(Bits a) {
    constexpr uint32_t INFINITE = 31u << FRACTION, QUIET = INFINITE | 1u << (FRACTION - 1);
    if (single::is_subnormal(a) || a >> 31) return 0;
    if (a > riscv::Single::INFINITE) return QUIET;
    if (a == riscv::Single::INFINITE) return INFINITE;
    const int exponent = int(a >> 23) - 112;
    if (exponent > 30) return INFINITE - 1;
    const uint32_t significand = (a & 0x7FFFFF) >> (23 - FRACTION);
    if (exponent > 0) return uint32_t(exponent) << FRACTION | significand;
    return exponent < -int(FRACTION) || !a ? 0 : (significand | 1u << FRACTION) >> (1 - exponent);
}

// Fractions of the largest integer of BITS bits: unsigned, and signed with equally many on both sides. To a single they
// are rounded in `mode`, those with a sign to nearest even, as their words have no mode; from it to nearest, halves
// away from zero, within the range; a NaN is the largest. No flag is set. Source: the vendor's emulator.
Bits from_fraction(uint32_t numerator, uint32_t denominator, bool sign, int mode);
uint32_t to_fraction(Bits a, uint32_t denominator);
template <unsigned BITS>
Bits from_unorm(uint32_t a, int mode) {
    constexpr uint32_t LARGEST = (1u << BITS) - 1;
    return from_fraction(a & LARGEST, LARGEST, false, mode);
}
template <unsigned BITS>
uint32_t to_unorm(Bits a) {
    return riscv::Single::is_nan(a) ? (1u << BITS) - 1 : a >> 31 ? 0 : to_fraction(a, (1u << BITS) - 1);
}
template <unsigned BITS>
Bits from_snorm(uint32_t a) {
    constexpr uint32_t LARGEST = (1u << (BITS - 1)) - 1;
    const int32_t value = int32_t(a << (32 - BITS)) >> (32 - BITS);
    const uint32_t magnitude = uint32_t(value < 0 ? -value : value);
    return from_fraction(magnitude > LARGEST ? LARGEST : magnitude, LARGEST, value < 0, riscv::RNE);
}
template <unsigned BITS>
uint32_t to_snorm(Bits a) {
    constexpr uint32_t LARGEST = (1u << (BITS - 1)) - 1;
    const uint32_t magnitude = riscv::Single::is_nan(a) ? LARGEST : to_fraction(a & single::MAGNITUDE, LARGEST);
    return (a >> 31 && !riscv::Single::is_nan(a) ? -magnitude : magnitude) & ((1u << BITS) - 1);
}

// The fraction of a number, with its sign; a number rounded to an integer.
Bits fraction(Bits a, uint32_t& flags);
Bits rounded_off(Bits a, int mode, uint32_t& flags);

// 2^a, log2 a and 1/a, correctly rounded to nearest, where the machine promises one unit in the last place: not
// bit-exact. What is beyond their ranges is as the manual's tables say.
Bits exp2(Bits a, uint32_t& flags);
Bits log2(Bits a, uint32_t& flags);
Bits reciprocal(Bits a, uint32_t& flags);

}  // namespace polyloom::minion::packed
