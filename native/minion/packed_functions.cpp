// SPDX-License-Identifier: Apache-2.0
// 2^a, log2 a and 1/a, correctly rounded. The host's double tells the result wherever it is not too close to the middle
// of two singles; there integers of 128 bits do, so that the bytes depend on no host.
#include <bit>
#include <cmath>
#include <optional>

#include "packed_float.hpp"

namespace polyloom::minion::packed {
namespace {

using riscv::Single;
using riscv::u128;

constexpr int POINT = 120;  // bits behind the binary point of a fixed-point number
constexpr u128 UNITY = u128(1) << POINT;
// ln 2, by the digits of its binary expansion.
constexpr u128 LN2 = (u128(0x00B17217F7D1CF79ull) << 64) | 0xABC9E3B39803F2F6ull;

// a * b, truncated; both are less than 256.
u128 times(u128 a, u128 b) {
    const u128 low = uint64_t(a), high = a >> 64, other_low = uint64_t(b), other_high = b >> 64;
    const u128 bottom = low * other_low, middle = low * other_high, second = high * other_low;
    const u128 carried = (bottom >> 64) + uint64_t(middle) + uint64_t(second);
    const u128 top = high * other_high + (middle >> 64) + (second >> 64) + (carried >> 64);
    return top << (128 - POINT) | u128(uint64_t(carried)) >> (POINT - 64);
}

// The single that all numbers near `value` round to, if they do.
std::optional<Bits> sure(double value) {
    const uint64_t bits = std::bit_cast<uint64_t>(value), last = uint64_t(1) << 29;
    // Of the 29 bits that a single lacks, the middle is one half; the host is trusted to 2^-48.
    const uint64_t rest = bits & (last - 1), middle = last / 2, doubt = 32;
    if (rest + doubt > middle && rest < middle + doubt) return {};
    return std::bit_cast<Bits>(float(value));
}

// 2^n * significand / 2^POINT, to nearest; what is behind the last bit is not nothing.
Bits nearest(bool sign, int n, u128 significand) {
    uint8_t unused = 0;
    const int shift = riscv::width(significand) - 60;
    const u128 kept = shift > 0 ? significand >> shift : significand << -shift;
    return riscv::rounded<Single>({sign, n - POINT + shift - 1, kept << 1 | 1}, riscv::RNE, unused);
}

// 2^a by the series of e^(a ln 2), of the fraction of a.
Bits exact_exp2(Bits a) {
    const riscv::Exact value = riscv::exact<Single>(a);
    u128 fixed = value.exponent >= -POINT ? value.significand << (value.exponent + POINT) : 0;
    int whole = int(fixed >> POINT);
    fixed &= UNITY - 1;
    if (value.sign) whole = -whole - 1, fixed = UNITY - fixed;
    const u128 x = times(fixed, LN2);
    u128 term = UNITY, sum = 0;
    for (unsigned n = 1; term; ++n) {
        sum += term;
        term = times(term, x) / n;
    }
    return nearest(false, whole, sum);
}

// log2 a by squaring: each square that reaches 2 gives a bit.
Bits exact_log2(Bits a) {
    const int whole = int(a >> 23) - 127;
    u128 m = u128((a & 0x7FFFFF) | 0x800000) << (POINT - 23), made = 0;
    for (int bit = POINT - 1; bit >= POINT - 100; --bit) {
        m = times(m, m);
        if (m >> (POINT + 1)) m >>= 1, made |= u128(1) << bit;
    }
    if (whole >= 0) return nearest(false, 0, (u128(unsigned(whole)) << POINT) + made);
    return nearest(true, 0, (u128(unsigned(-whole)) << POINT) - made);
}

Bits quieted(Bits a, uint32_t& flags) {
    uint8_t raised = 0;
    const Bits made = riscv::quiet<Single>(raised, a);
    flags |= raised;
    return made;
}

double number(Bits a) { return double(std::bit_cast<float>(a)); }

}  // namespace

Bits exp2(Bits a, uint32_t& flags) {
    a = single::flushed(a, flags);
    if (Single::is_nan(a)) return quieted(a, flags);
    if (Single::is_zero(a)) return 127u << 23;
    if (!(a & Single::SIGN) && number(a) >= 128) return Single::INFINITE;
    if (a & Single::SIGN && number(a) < -126) return 0;
    const std::optional<Bits> found = sure(std::exp2(number(a)));
    return found ? *found : exact_exp2(a);
}

Bits log2(Bits a, uint32_t& flags) {
    a = single::flushed(a, flags);
    if (Single::is_nan(a)) return quieted(a, flags);
    if (Single::is_zero(a)) return Single::SIGN | Single::INFINITE;
    if (a & Single::SIGN) {
        flags |= riscv::NV;
        return Single::NAN_BITS;
    }
    if (a == Single::INFINITE) return a;
    const std::optional<Bits> found = sure(std::log2(number(a)));
    return found ? *found : exact_log2(a);
}

Bits reciprocal(Bits a, uint32_t& flags) {
    a = single::flushed(a, flags);
    if (Single::is_nan(a)) return quieted(a, flags);
    const Bits sign = a & Single::SIGN;
    if (Single::is_zero(a)) {
        flags |= riscv::DZ;
        return sign | Single::INFINITE;
    }
    if ((a & single::MAGNITUDE) > (127u + 126) << 23) return sign;
    uint8_t unused = 0;
    return riscv::div<Single>(127u << 23, a, riscv::RNE, unused);
}

}  // namespace polyloom::minion::packed
