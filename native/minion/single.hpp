// SPDX-License-Identifier: Apache-2.0
// Single precision in the machine's environment: subnormal operands are zeros of their sign and set InputDenorm, tiny
// results are zeros of their sign and set UF and NX, and what is tiny is decided before rounding. NaN results are
// canonical. Flags are bits of fcsr. The integer arithmetic of riscv/float.hpp does the rest.
#pragma once

#include <cstdint>

#include "riscv/float.hpp"

namespace polyloom::minion::single {

using riscv::Exact;
using riscv::Single;
using Bits = uint32_t;

constexpr uint32_t INPUT_DENORMAL = uint32_t(1) << 31;
constexpr Bits LEAST_NORMAL = 0x00800000, MAGNITUDE = 0x7FFFFFFF;

constexpr bool is_subnormal(Bits a) { return (a & MAGNITUDE) - 1 < LEAST_NORMAL - 1; }

inline Bits flushed(Bits a, uint32_t& flags) {
    if (!is_subnormal(a)) [[likely]]
        return a;
    flags |= INPUT_DENORMAL;
    return a & Single::SIGN;
}

inline Bits rounded(const Exact& a, int mode, uint32_t& flags) {
    if (a.significand && riscv::width(a.significand) - 1 + a.exponent < Single::LEAST) {
        flags |= riscv::UF | riscv::NX;
        return a.sign ? Single::SIGN : 0;
    }
    uint8_t raised = 0;
    const Bits made = riscv::rounded<Single>(a, mode, raised);
    flags |= raised;
    return made;
}

// A function of riscv/float.hpp whose result needs no flush.
template <class G, class... A>
auto flagged(uint32_t& flags, G function, A... operands) {
    uint8_t raised = 0;
    const auto made = function(operands..., raised);
    flags |= raised;
    return made;
}

inline bool is_special(Bits a) { return (a & MAGNITUDE) >= Single::INFINITE; }

inline Bits add(Bits a, Bits b, int mode, uint32_t& flags) {
    a = flushed(a, flags), b = flushed(b, flags);
    if (is_special(a) || is_special(b) || (Single::is_zero(a) && Single::is_zero(b)))
        return flagged(flags, [mode](Bits p, Bits q, uint8_t& f) { return riscv::add<Single>(p, q, mode, f); }, a, b);
    return rounded(riscv::sum(riscv::exact<Single>(a), riscv::exact<Single>(b), mode), mode, flags);
}

inline Bits sub(Bits a, Bits b, int mode, uint32_t& flags) {
    return add(a, Single::is_nan(b) ? b : b ^ Single::SIGN, mode, flags);
}

inline Bits mul(Bits a, Bits b, int mode, uint32_t& flags) {
    a = flushed(a, flags), b = flushed(b, flags);
    if (is_special(a) || is_special(b))
        return flagged(flags, [mode](Bits p, Bits q, uint8_t& f) { return riscv::mul<Single>(p, q, mode, f); }, a, b);
    return rounded(riscv::product(riscv::exact<Single>(a), riscv::exact<Single>(b)), mode, flags);
}

// a * b + c, rounded once.
inline Bits fma(Bits a, Bits b, Bits c, int mode, uint32_t& flags) {
    a = flushed(a, flags), b = flushed(b, flags), c = flushed(c, flags);
    if (is_special(a) || is_special(b) || is_special(c) || ((!(a & MAGNITUDE) || !(b & MAGNITUDE)) && !(c & MAGNITUDE)))
        return flagged(
            flags, [mode](Bits p, Bits q, Bits r, uint8_t& f) { return riscv::fma<Single>(p, q, r, mode, f); }, a, b,
            c);
    const Exact product = riscv::product(riscv::exact<Single>(a), riscv::exact<Single>(b));
    return rounded(riscv::sum(product, riscv::exact<Single>(c), mode), mode, flags);
}

// minimumNumber and maximumNumber of IEEE 754-2019.
template <bool GREATER>
Bits extreme(Bits a, Bits b, uint32_t& flags) {
    a = flushed(a, flags), b = flushed(b, flags);
    return flagged(flags, riscv::extreme<Single, GREATER>, a, b);
}
inline Bits minimum(Bits a, Bits b, uint32_t& flags) { return extreme<false>(a, b, flags); }
inline Bits maximum(Bits a, Bits b, uint32_t& flags) { return extreme<true>(a, b, flags); }

inline bool equal(Bits a, Bits b, uint32_t& flags) {
    a = flushed(a, flags), b = flushed(b, flags);
    return flagged(flags, riscv::equal<Single>, a, b);
}
inline bool less(Bits a, Bits b, uint32_t& flags) {
    a = flushed(a, flags), b = flushed(b, flags);
    return flagged(flags, riscv::less<Single>, a, b);
}
inline bool less_or_equal(Bits a, Bits b, uint32_t& flags) {
    a = flushed(a, flags), b = flushed(b, flags);
    return flagged(flags, riscv::less_or_equal<Single>, a, b);
}

template <class I>
I to_integer(Bits a, int mode, uint32_t& flags) {
    a = flushed(a, flags);
    return flagged(flags, [mode](Bits p, uint8_t& f) { return riscv::to_integer<I, Single>(p, mode, f); }, a);
}
template <class I>
Bits from_integer(I a, int mode, uint32_t& flags) {
    return flagged(flags, [mode](I p, uint8_t& f) { return riscv::from_integer<Single, I>(p, mode, f); }, a);
}

}  // namespace polyloom::minion::single
