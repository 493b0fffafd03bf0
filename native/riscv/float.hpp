// SPDX-License-Identifier: Apache-2.0
// IEEE 754 arithmetic with RISC-V's rounding modes, flags and NaNs, in integers, so that no host's floating point
// shows: every operation is exact on (sign, exponent, significand), of which the lowest bit may stand for all that was
// shifted out, and is then rounded once. Tininess is detected after rounding. Source: The RISC-V Instruction Set
// Manual, Volume I, chapters 20, 21.
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace polyloom::riscv {

__extension__ using u128 = unsigned __int128;

enum Rounding : uint8_t { RNE, RTZ, RDN, RUP, RMM };
enum Flag : uint8_t { NX = 1, UF = 2, OF = 4, DZ = 8, NV = 16 };

template <class B, class H, int P, int E>
struct Format {
    using Bits = B;
    using Host = H;
    static constexpr int PRECISION = P, GREATEST = (1 << (E - 1)) - 1, LEAST = 1 - GREATEST;
    static constexpr Bits SIGN = Bits(1) << (P - 1 + E), HIDDEN = Bits(1) << (P - 1),
                          INFINITE = ((Bits(1) << E) - 1) << (P - 1), NAN_BITS = INFINITE | HIDDEN >> 1;

    static bool is_nan(Bits a) { return (a & ~SIGN) > INFINITE; }
    static bool is_signaling(Bits a) { return is_nan(a) && !(a & HIDDEN >> 1); }
    static bool is_infinite(Bits a) { return (a & ~SIGN) == INFINITE; }
    static bool is_zero(Bits a) { return !(a & ~SIGN); }
};
using Single = Format<uint32_t, float, 24, 8>;
using Double = Format<uint64_t, double, 53, 11>;

// (-1)^sign * significand * 2^exponent; the significand is less than 2^125.
struct Exact {
    bool sign;
    int exponent;
    u128 significand;
};

inline int width(u128 a) { return a >> 64 ? 64 + std::bit_width(uint64_t(a >> 64)) : std::bit_width(uint64_t(a)); }

// The exact value of a finite number.
template <class F>
Exact exact(typename F::Bits a) {
    const int biased = int((a & ~F::SIGN) >> (F::PRECISION - 1));
    const auto fraction = a & (F::HIDDEN - 1);
    return {bool(a & F::SIGN), (biased ? biased : 1) - F::GREATEST - (F::PRECISION - 1),
            biased ? fraction | F::HIDDEN : fraction};
}

struct Integer {
    u128 value;
    bool inexact;
};

// significand * 2^-shift to an integer.
inline Integer round_off(bool sign, u128 significand, int shift, int mode) {
    if (shift <= 0) return {significand << -shift, false};
    if (shift > 126) {
        significand = significand != 0;
        shift = 126;
    }
    const u128 below = significand & ((u128(1) << shift) - 1), half = u128(1) << (shift - 1);
    const u128 whole = significand >> shift;
    const bool up = mode == RNE   ? below > half || (below == half && (whole & 1))
                    : mode == RMM ? below >= half
                    : mode == RUP ? below && !sign
                    : mode == RDN ? below && sign
                                  : false;
    return {whole + up, below != 0};
}

template <class F>
typename F::Bits rounded(Exact a, int mode, uint8_t& flags) {
    using Bits = typename F::Bits;
    constexpr int LAST = F::PRECISION - 1;
    const Bits sign = a.sign ? F::SIGN : 0;
    if (!a.significand) return sign;
    const int top = width(a.significand) - 1 + a.exponent;
    int last = (top > F::LEAST ? top : F::LEAST) - LAST;
    const auto [value, inexact] = round_off(a.sign, a.significand, last - a.exponent, mode);
    const bool reaches =
        top == F::LEAST - 1 && round_off(a.sign, a.significand, top - LAST - a.exponent, mode).value >> F::PRECISION;
    if (inexact) flags |= top < F::LEAST && !reaches ? NX | UF : NX;
    const bool carries = value >> F::PRECISION != 0;
    const Bits significand = Bits(value >> carries);
    last += carries;
    if (last + LAST > F::GREATEST) {
        flags |= OF | NX;
        const bool away = mode == RNE || mode == RMM || mode == (a.sign ? RDN : RUP);
        return sign | (away ? F::INFINITE : F::INFINITE - 1);
    }
    const Bits biased = significand & F::HIDDEN ? Bits(last + LAST + F::GREATEST) : 0;
    return sign | biased << LAST | (significand & (F::HIDDEN - 1));
}

inline Exact normalized(Exact a, int bits) {
    const int shift = bits - width(a.significand);
    return {a.sign, a.exponent - shift, a.significand << shift};
}

// The sum of two values, not both zero, of which at most 106 bits are significant.
inline Exact sum(Exact a, Exact b, int mode) {
    if (!a.significand) return b;
    if (!b.significand) return a;
    a = normalized(a, 124);
    b = normalized(b, 124);
    if (a.exponent < b.exponent) std::swap(a, b);
    const int shift = a.exponent - b.exponent;
    const u128 kept = shift > 126 ? 0 : b.significand >> shift;
    const bool lost = shift > 126 || (kept << shift) != b.significand;
    const u128 other = kept | lost;
    if (a.sign == b.sign) return {a.sign, a.exponent, a.significand + other};
    if (a.significand == other) return {mode == RDN, 0, 0};
    if (a.significand > other) return {a.sign, a.exponent, a.significand - other};
    return {b.sign, a.exponent, other - a.significand};
}

template <class F>
typename F::Bits invalid(uint8_t& flags) {
    flags |= NV;
    return F::NAN_BITS;
}

template <class F, class... A>
typename F::Bits quiet(uint8_t& flags, A... operands) {
    if ((F::is_signaling(operands) || ...)) flags |= NV;
    return F::NAN_BITS;
}

template <class F>
typename F::Bits add(typename F::Bits a, typename F::Bits b, int mode, uint8_t& flags) {
    if (F::is_nan(a) || F::is_nan(b)) return quiet<F>(flags, a, b);
    if (F::is_infinite(a)) return F::is_infinite(b) && a != b ? invalid<F>(flags) : a;
    if (F::is_infinite(b)) return b;
    if (F::is_zero(a) && F::is_zero(b)) return a == b ? a : mode == RDN ? F::SIGN : 0;
    return rounded<F>(sum(exact<F>(a), exact<F>(b), mode), mode, flags);
}

template <class F>
typename F::Bits sub(typename F::Bits a, typename F::Bits b, int mode, uint8_t& flags) {
    return F::is_nan(b) ? quiet<F>(flags, a, b) : add<F>(a, b ^ F::SIGN, mode, flags);
}

inline Exact product(Exact a, Exact b) {
    return {a.sign != b.sign, a.exponent + b.exponent, a.significand * b.significand};
}

template <class F>
typename F::Bits mul(typename F::Bits a, typename F::Bits b, int mode, uint8_t& flags) {
    if (F::is_nan(a) || F::is_nan(b)) return quiet<F>(flags, a, b);
    if (F::is_infinite(a) || F::is_infinite(b))
        return F::is_zero(a) || F::is_zero(b) ? invalid<F>(flags) : ((a ^ b) & F::SIGN) | F::INFINITE;
    return rounded<F>(product(exact<F>(a), exact<F>(b)), mode, flags);
}

// a * b + c, rounded once.
template <class F>
typename F::Bits fma(typename F::Bits a, typename F::Bits b, typename F::Bits c, int mode, uint8_t& flags) {
    if ((F::is_infinite(a) && F::is_zero(b)) || (F::is_zero(a) && F::is_infinite(b)))
        return quiet<F>(flags, c), invalid<F>(flags);
    if (F::is_nan(a) || F::is_nan(b) || F::is_nan(c)) return quiet<F>(flags, a, b, c);
    const auto sign = (a ^ b) & F::SIGN;
    if (F::is_infinite(a) || F::is_infinite(b))
        return F::is_infinite(c) && sign != (c & F::SIGN) ? invalid<F>(flags) : sign | F::INFINITE;
    if (F::is_infinite(c)) return c;
    if ((F::is_zero(a) || F::is_zero(b)) && F::is_zero(c)) return c == sign ? c : mode == RDN ? F::SIGN : 0;
    return rounded<F>(sum(product(exact<F>(a), exact<F>(b)), exact<F>(c), mode), mode, flags);
}

template <class F>
typename F::Bits div(typename F::Bits a, typename F::Bits b, int mode, uint8_t& flags) {
    if (F::is_nan(a) || F::is_nan(b)) return quiet<F>(flags, a, b);
    const auto sign = (a ^ b) & F::SIGN;
    if (F::is_infinite(a)) return F::is_infinite(b) ? invalid<F>(flags) : sign | F::INFINITE;
    if (F::is_infinite(b)) return sign;
    if (F::is_zero(b)) {
        if (F::is_zero(a)) return invalid<F>(flags);
        flags |= DZ;
        return sign | F::INFINITE;
    }
    if (F::is_zero(a)) return sign;
    const Exact n = normalized(exact<F>(a), 124), d = exact<F>(b);
    const u128 quotient = n.significand / d.significand;
    const bool rest = quotient * d.significand != n.significand;
    return rounded<F>({sign != 0, n.exponent - d.exponent, quotient | rest}, mode, flags);
}

inline u128 root(u128 a) {
    u128 made = 0;
    for (int bit = 61; bit >= 0; --bit) {
        const u128 tried = made | u128(1) << bit;
        if (tried * tried <= a) made = tried;
    }
    return made;
}

template <class F>
typename F::Bits sqrt(typename F::Bits a, int mode, uint8_t& flags) {
    if (F::is_nan(a)) return quiet<F>(flags, a);
    if (F::is_zero(a)) return a;
    if (a & F::SIGN) return invalid<F>(flags);
    if (F::is_infinite(a)) return a;
    Exact n = normalized(exact<F>(a), 124);
    if (n.exponent & 1) n = {n.sign, n.exponent + 1, n.significand >> 1};
    const u128 made = root(n.significand);
    return rounded<F>({false, n.exponent / 2, made | (made * made != n.significand)}, mode, flags);
}

// minimumNumber and maximumNumber of IEEE 754-2019; -0 is less than +0.
template <class F, bool GREATER>
typename F::Bits extreme(typename F::Bits a, typename F::Bits b, uint8_t& flags) {
    if (F::is_signaling(a) || F::is_signaling(b)) flags |= NV;
    if (F::is_nan(a)) return F::is_nan(b) ? F::NAN_BITS : b;
    if (F::is_nan(b)) return a;
    using Signed = std::make_signed_t<typename F::Bits>;
    const auto key = [](typename F::Bits v) { return v & F::SIGN ? Signed(~v | F::SIGN) : Signed(v); };
    return (key(a) < key(b)) != GREATER ? a : b;
}

template <class F>
bool equal(typename F::Bits a, typename F::Bits b, uint8_t& flags) {
    if (F::is_nan(a) || F::is_nan(b)) return quiet<F>(flags, a, b), false;
    return a == b || (F::is_zero(a) && F::is_zero(b));
}

template <class F>
bool less(typename F::Bits a, typename F::Bits b, uint8_t& flags) {
    if (F::is_nan(a) || F::is_nan(b)) return flags |= NV, false;
    if (F::is_zero(a) && F::is_zero(b)) return false;
    if ((a ^ b) & F::SIGN) return a & F::SIGN;
    return a & F::SIGN ? a > b : a < b;
}

template <class F>
bool less_or_equal(typename F::Bits a, typename F::Bits b, uint8_t& flags) {
    return less<F>(a, b, flags) || (!F::is_nan(a) && !F::is_nan(b) && equal<F>(a, b, flags));
}

// One bit of ten: -inf, negative normal, negative subnormal, -0, +0, ..., +inf, signaling NaN, quiet NaN.
template <class F>
int classify(typename F::Bits a) {
    if (F::is_nan(a)) return F::is_signaling(a) ? 1 << 8 : 1 << 9;
    const auto magnitude = a & ~F::SIGN;
    const int rank = F::is_infinite(a) ? 0 : magnitude >= F::HIDDEN ? 1 : magnitude ? 2 : 3;
    return 1 << (a & F::SIGN ? rank : 7 - rank);
}

// To another format.
template <class To, class From>
typename To::Bits convert(typename From::Bits a, int mode, uint8_t& flags) {
    if (From::is_nan(a)) return From::is_signaling(a) ? invalid<To>(flags) : To::NAN_BITS;
    if (From::is_infinite(a)) return (a & From::SIGN ? To::SIGN : 0) | To::INFINITE;
    return rounded<To>(exact<From>(a), mode, flags);
}

// To an integer type: the nearest value of it, and NV, where it does not fit; the greatest for a NaN.
template <class I, class F>
I to_integer(typename F::Bits a, int mode, uint8_t& flags) {
    constexpr I LOW = std::is_signed_v<I> ? I(1) << (8 * sizeof(I) - 1) : 0, HIGH = I(~LOW);
    const bool negative = !F::is_nan(a) && (a & F::SIGN);
    const Exact value = F::is_nan(a) || F::is_infinite(a) ? Exact{negative, 100, 1} : exact<F>(a);
    const bool huge = value.exponent > 64;
    const auto [magnitude, inexact] =
        huge ? Integer{u128(1) << 100, false} : round_off(negative, value.significand, -value.exponent, mode);
    const u128 limit = negative ? u128(std::is_signed_v<I>) << (8 * sizeof(I) - 1) : u128(HIGH);
    if (magnitude > limit) return flags |= NV, negative ? LOW : HIGH;
    if (inexact) flags |= NX;
    return negative ? I(-std::make_unsigned_t<I>(magnitude)) : I(magnitude);
}

template <class F, class I>
typename F::Bits from_integer(I a, int mode, uint8_t& flags) {
    const bool negative = std::is_signed_v<I> && a >> (8 * sizeof(I) - 1) & 1;
    return rounded<F>({negative, 0, negative ? -u128(a) : u128(a)}, mode, flags);
}

}  // namespace polyloom::riscv
