// SPDX-License-Identifier: Apache-2.0
#include "tensix/vector_multiply.hpp"

#include "tensix/vector_run.hpp"

// Eight lanes at a time, without a branch: the compiler's vectors, which it splits where the host has shorter ones. All
// that is conditional is a mask. Functions are always inlined, so that each caller compiles them for its own target.
#define LANEWISE [[gnu::always_inline]] inline
#pragma GCC diagnostic ignored "-Wpsabi"

namespace polyloom::tensix::vector {

namespace {

using Bits = uint32_t __attribute__((vector_size(32)));
using Ints = int32_t __attribute__((vector_size(32)));
using Floats = float __attribute__((vector_size(32)));

constexpr uint32_t INFINITE = 0x7F800000, HIDDEN = 0x800000;

LANEWISE Bits chosen(Ints mask, Bits yes, Bits no) { return (Bits(mask) & yes) | (~Bits(mask) & no); }
LANEWISE Ints chosen(Ints mask, Ints yes, Ints no) { return (mask & yes) | (~mask & no); }
LANEWISE Ints larger(Ints a, Ints b) { return a > b ? a : b; }
LANEWISE Ints smaller(Ints a, Ints b) { return a < b ? a : b; }

// A mantissa of at most 28 bits shifted right: what is lost stays as the lowest bit, but not if all is lost.
LANEWISE Bits aligned(Bits mantissa, Ints amount) {
    const Bits by = Bits(smaller(amount, Ints{} + 31)), kept = mantissa >> by;
    const Ints lost = Ints(mantissa - (kept << by));
    return kept | Bits(smaller(smaller(lost, Ints(kept)), Ints{} + 1));
}

// x·y of mantissas of 24 bits, without the lowest 20, which leave one bit: from products of halves of 12 bits.
LANEWISE Bits product(Bits x, Bits y) {
    const Bits xh = x >> 12, xl = x & 4095, yh = y >> 12, yl = y & 4095, low = xl * yl;
    const Bits middle = xh * yl + xl * yh + (low >> 12);
    return ((xh * yh) << 4) + ((middle >> 8) | Bits(smaller(Ints((middle & 255) | (low & 4095)), Ints{} + 1)));
}

// The same of fractions of 23 bits, which the hidden ones are added to here: a product of floats is off by less than
// 2**25 of the 48 bits, so that their low 32 bits tell by how much.
LANEWISE Bits product_of_fractions(Bits x, Bits y) {
    constexpr uint32_t SCALE = (127 + 13) << 23;  // of each, so that the product has lost 20 bits
    const Floats scaled = Floats(x | SCALE) * Floats(y | SCALE);
    const Ints close = __builtin_convertvector(scaled, Ints);
    const Bits low = (x | HIDDEN) * (y | HIDDEN);
    const Ints off = Ints(low - (Bits(close) << 20)) >> 20;
    return Bits(close + off) | Bits(smaller(Ints(low & 0xFFFFF), Ints{} + 1));
}

struct Parts {
    Ints exponent;
    Bits mantissa, sign;
};

LANEWISE Parts parts(Bits value) {
    const Bits exponent = value >> 23 & 255;
    return {Ints(exponent), ((value & FRACTION) | HIDDEN) & Bits(exponent != 0), value & SIGN};
}

// Where the highest one is, less 26; through the exponent of a float. Clearing a bit below the highest prevents
// rounding.
LANEWISE Ints excess(Bits sum) {
    const Floats close = __builtin_convertvector(Ints(sum & ~(sum >> 1)), Floats);
    return Ints(Bits(close) >> 23) - (127 + 26);
}

// The sum of a product and a value, aligned, without rounding.
struct Sum {
    Bits magnitude, sign;
    Ints exponent;
};

LANEWISE Sum sum(Bits p, Ints pe, Bits p_sign, Bits z, Ints ze, Bits z_sign) {
    const Ints exponent = larger(pe, ze);
    p = aligned(p, exponent - pe), z = aligned(z, exponent - ze);
    const Ints product_wins = Ints(p) >= Ints(z), alike = p_sign == z_sign;
    const Bits apart = chosen(product_wins, p - z, z - p);
    return {chosen(alike, p + z, apart), chosen(product_wins, p_sign, z_sign), exponent};
}

LANEWISE Bits rounded(Bits magnitude, Ints exponent) {
    const Bits cut = (Bits(exponent) << 23) + (magnitude >> 3 & FRACTION);
    return cut + (Bits((magnitude & 7) + (cut & 1) > 4) & 1);
}

LANEWISE Bits wormhole(Bits xs, Bits ys, Bits zs) {
    const Parts x = parts(xs), y = parts(ys), z = parts(zs);
    const Bits p_sign = x.sign ^ y.sign;
    Bits p = product(x.mantissa, y.mantissa);
    Ints pe = x.exponent + y.exponent - 127;
    const Ints x_special = x.exponent == 255, y_special = y.exponent == 255, z_special = z.exponent == 255;
    const Ints wide = x_special | y_special | (pe >= 255), special = wide | z_special;
    const Ints not_product = (x_special & ((x.mantissa != HIDDEN) | (y.mantissa == 0))) |
                             (y_special & ((y.mantissa != HIDDEN) | (x.mantissa == 0)));
    const Ints z_infinite = z_special & (z.mantissa == HIDDEN);
    const Ints first = not_product | (z_infinite & wide & (z.sign != p_sign));
    const Ints nan = first | (z_special & ~z_infinite);
    const Bits mark = Bits(nan) & (chosen(first, p_sign, z.sign) | INFINITE | 1);
    pe = chosen(special, smaller(pe, Ints{} + 255), pe);
    const Ints no_product = (p == 0) | (pe < 0);
    p = chosen(no_product, Bits{}, p), pe = chosen(no_product, Ints{}, pe);

    const Sum s = sum(p, pe, p_sign, z.mantissa << 3, z.exponent, z.sign);
    const Ints n = excess(s.magnitude), exponent = s.exponent + n;
    // Where bits go, the lowest alone is remembered: this member's inexactness.
    const Bits right = (s.magnitude >> Bits(n & 3)) | (s.magnitude & 1), left = s.magnitude << Bits(-n & 31);
    const Bits r = rounded(chosen(n <= 0, left, right), exponent);
    const Ints vanishes = (s.magnitude == 0) | (exponent < 0) | ((r >> 23) == 0);
    const Bits overflow = chosen(nan, mark, s.sign | INFINITE);
    Bits result = chosen(nan, mark, s.sign) | r;
    result = chosen((exponent >= 255) & (s.magnitude != 0), overflow, result);
    result = chosen(vanishes & ~((exponent >= 255) & (s.magnitude != 0)), mark, result);
    result = chosen(no_product & ~nan, chosen(z.mantissa != 0, zs, Bits{}), result);
    return chosen(special & ~nan, chosen(z_infinite, zs, p_sign | INFINITE), result);
}

LANEWISE Bits blackhole(Bits xs, Bits ys, Bits zs) {
    const Parts x = parts(xs), y = parts(ys), z = parts(zs);
    const Bits p_sign = x.sign ^ y.sign;
    const Bits p = product(x.mantissa, y.mantissa);
    const Ints pe = x.exponent + y.exponent - 127;
    const Ints x_special = x.exponent == 255, y_special = y.exponent == 255, z_special = z.exponent == 255;
    const Ints special = x_special | y_special | z_special | (pe >= 255);
    const Ints z_infinite = z_special & (z.mantissa == HIDDEN);
    const Ints nan = (x_special & ((x.mantissa != HIDDEN) | (y.mantissa == 0))) |
                     (y_special & ((y.mantissa != HIDDEN) | (x.mantissa == 0))) | (z_special & ~z_infinite) |
                     (z_infinite & (x_special | y_special) & (z.sign != p_sign));
    const Ints no_product = (p == 0) | (pe < 0);

    const Sum s = sum(p, pe, p_sign, z.mantissa << 3, z.exponent, z.sign);
    Ints n = excess(s.magnitude), exponent = s.exponent + n;
    const Ints overflows = exponent >= 255, low = exponent <= 0;
    n = n + (low & 1), exponent = chosen(low, Ints{}, exponent);
    const Bits lost = s.magnitude & Bits(n | 1);
    const Bits right = (s.magnitude >> Bits(n & 31)) | (Bits(lost != 0) & 1), left = s.magnitude << Bits(-n & 31);
    Bits r = rounded(chosen(n <= 0, left, right), exponent);
    r = s.sign | (r & Bits((r >> 23) != 0));
    r = chosen(overflows, s.sign | INFINITE, r);
    r = chosen(s.magnitude == 0, z.sign & p_sign, r);
    r = chosen(no_product, chosen(z.mantissa != 0, zs, z.sign & p_sign), r);
    r = chosen(special, chosen(z_infinite, zs, p_sign | INFINITE), r);
    return chosen(nan, Bits{} + 0x7FC00000, r);
}

// What wormhole() and blackhole() give but for infinities, NaN, and results out of range, which `odd` says. A product
// of zero or too small for an exponent is nothing. Normalizing to bit 28 keeps the two bits that a sum can have above
// its place.
template <Member member>
LANEWISE Bits ordinary(const Bits& xs, const Bits& ys, const Bits& zs, Ints& odd) {
    const Ints xe = Ints(xs >> 23 & 255), ye = Ints(ys >> 23 & 255), ze = Ints(zs >> 23 & 255);
    const Ints product_exponent = xe + ye - 127;
    const Ints some = (smaller(xe, ye) > 0) & ~(product_exponent >> 31);
    const Ints pe = product_exponent & some, exponent = larger(pe, ze);
    const Bits p_sign = (xs ^ ys) & SIGN, apart = p_sign ^ (zs & SIGN);
    const Bits p = product_of_fractions(xs & FRACTION, ys & FRACTION) & Bits(some);
    const Bits z = (((zs & FRACTION) | HIDDEN) & Bits(ze > 0)) << 3;
    const Ints opposite = Ints(apart) >> 31;
    const Ints difference = Ints(aligned(p, exponent - pe)) + ((Ints(aligned(z, exponent - ze)) ^ opposite) - opposite);
    const Ints negative = difference >> 31, zero = difference == 0;
    const Bits magnitude = Bits((difference ^ negative) - negative), sign = p_sign ^ (apart & Bits(negative));
    const Ints n = excess(magnitude), e = exponent + n;
    const Bits normal = magnitude << Bits((2 - n) & 31);
    const Bits below =
        member == Member::Wormhole ? magnitude & 1 & Bits(n > 0) : Bits(smaller(Ints(normal & 3), Ints{} + 1));
    const Bits low = ((normal >> 2) | below) & 7, cut = (Bits(e) << 23) + (normal >> 5 & FRACTION);
    const Bits made = sign | (cut - Bits(Ints(low + (cut & 1)) > 4));
    const Ints out_of_range = (larger(e, 255 - e) > 254) & ~zero;
    odd = (larger(larger(xe, ye), larger(ze, pe)) > 254) | out_of_range;
    const Bits nothing = member == Member::Wormhole ? Bits{} : p_sign & zs & Bits(zero);
    return (made & ~Bits(zero)) | nothing;
}

LANEWISE bool any(Ints mask) {
    const auto words = (uint64_t __attribute__((vector_size(32))))mask;
    return words[0] | words[1] | words[2] | words[3];
}

LANEWISE Bits eight(const Lanes& from, int k) {
    Bits made;
    std::memcpy(&made, &from[size_t(k)], sizeof made);
    return made;
}

// The result is none of the operands.
template <Member member>
LANEWISE void all(const Lanes& x, const Lanes& y, const Lanes& z, Lanes& result) {
    Ints odd[LANES / 8], some{};
    for (int k = 0; k < LANES; k += 8) {
        const Bits made = ordinary<member>(eight(x, k), eight(y, k), eight(z, k), odd[k / 8]);
        some |= odd[k / 8];
        std::memcpy(&result[k], &made, sizeof made);
    }
    if (!any(some)) [[likely]]
        return;
    for (int k = 0; k < LANES; k += 8) {
        if (!any(odd[k / 8])) continue;
        const Bits a = eight(x, k), b = eight(y, k), c = eight(z, k);
        const Bits made = member == Member::Wormhole ? wormhole(a, b, c) : blackhole(a, b, c);
        std::memcpy(&result[k], &made, sizeof made);
    }
}

void plain(Member member, const Lanes& x, const Lanes& y, const Lanes& z, Lanes& result) {
    if (member == Member::Wormhole)
        all<Member::Wormhole>(x, y, z, result);
    else
        all<Member::Blackhole>(x, y, z, result);
}

#if defined(__x86_64__)
[[gnu::target("avx2")]] void wide(Member member, const Lanes& x, const Lanes& y, const Lanes& z, Lanes& result) {
    if (member == Member::Wormhole)
        all<Member::Wormhole>(x, y, z, result);
    else
        all<Member::Blackhole>(x, y, z, result);
}

const auto best = __builtin_cpu_supports("avx2") ? wide : plain;
#else
const auto best = plain;
#endif

}  // namespace

void multiply_add(Member member, const Lanes& x, const Lanes& y, const Lanes& z, Lanes& result) {
    best(member, x, y, z, result);
}

}  // namespace polyloom::tensix::vector
