// SPDX-License-Identifier: Apache-2.0
#include "packed_float.hpp"

namespace polyloom::minion::packed {

using riscv::Single;

Bits from_half(uint32_t a, uint32_t& flags) {
    a &= 0xffff;
    if (!(a & Half::INFINITE) && (a & ~Half::SIGN)) {
        flags |= single::INPUT_DENORMAL;
        a &= Half::SIGN;
    }
    return single::flagged(flags, [](uint32_t p, uint8_t& f) { return riscv::convert<Single, Half>(p, 0, f); }, a);
}

uint32_t to_half(Bits a, int mode, uint32_t& flags) {
    a = single::flushed(a, flags);
    constexpr Bits LEAST = (127 - 14) << 23;
    if (!Single::is_zero(a) && (a & single::MAGNITUDE) < LEAST) {
        flags |= riscv::UF | riscv::NX;
        return a >> 16 & Half::SIGN;
    }
    return single::flagged(flags, [mode](Bits p, uint8_t& f) { return riscv::convert<Half, Single>(p, mode, f); }, a);
}

Bits from_fraction(uint32_t numerator, uint32_t denominator, bool sign, int mode) {
    if (!numerator) return 0;
    // More than 24 bits of the quotient, and whether there is a rest.
    const riscv::u128 dividend = riscv::u128(numerator) << 64, quotient = dividend / denominator;
    const bool rest = quotient * denominator != dividend;
    uint8_t unused = 0;
    return riscv::rounded<Single>({sign, -65, quotient << 1 | riscv::u128(rest)}, mode, unused);
}

uint32_t to_fraction(Bits a, uint32_t denominator) {
    const riscv::Exact value = riscv::exact<Single>(a);
    if (a >= 127u << 23) return denominator;
    if (single::is_subnormal(a)) return 0;
    return uint32_t(riscv::round_off(false, value.significand * denominator, -value.exponent, riscv::RMM).value);
}

Bits fraction(Bits a, uint32_t& flags) {
    a = single::flushed(a, flags);
    if (Single::is_nan(a)) {
        uint8_t raised = 0;
        const Bits made = riscv::quiet<Single>(raised, a);
        flags |= raised;
        return made;
    }
    const int exponent = int(a >> 23 & 255) - 127;
    if (exponent < 0) return a;
    const Bits sign = a & Single::SIGN;
    const uint32_t rest = exponent >= 23 ? 0 : a & ((1u << (23 - exponent)) - 1);
    uint8_t unused = 0;
    return rest ? riscv::rounded<Single>({sign != 0, exponent - 23, rest}, riscv::RNE, unused) : sign;
}

Bits rounded_off(Bits a, int mode, uint32_t& flags) {
    a = single::flushed(a, flags);
    if (Single::is_nan(a)) {
        uint8_t raised = 0;
        const Bits made = riscv::quiet<Single>(raised, a);
        flags |= raised;
        return made;
    }
    if ((a & single::MAGNITUDE) >= (127u + 23) << 23 || Single::is_zero(a)) return a;
    const riscv::Exact value = riscv::exact<Single>(a);
    const auto [whole, inexact] = riscv::round_off(value.sign, value.significand, -value.exponent, mode);
    if (inexact) flags |= riscv::NX;
    uint8_t unused = 0;
    return riscv::rounded<Single>({value.sign, 0, whole}, mode, unused);
}

}  // namespace polyloom::minion::packed
