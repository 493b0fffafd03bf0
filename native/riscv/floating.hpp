// SPDX-License-Identifier: Apache-2.0
// What the floating-point instructions do: float.hpp behind the registers of a policy.
#pragma once

#include <cmath>
#include <limits>

#include "float.hpp"
#include "integer.hpp"

namespace polyloom::riscv {

template <class F, class P>
typename F::Bits get(const Hart<P>& h, int number) {
    return P::Floats::template get<F>(h.f[number]);
}

template <class F, class P>
void put(Hart<P>& h, int number, typename F::Bits bits) {
    P::Floats::template put<F>(h.f[number], bits);
}

// The rounding mode of an instruction: dyn is that of the register, which may hold none.
template <class P>
int mode(const Hart<P>& h, const Decoded<P>* d) {
    return d->rm == 7 ? h.rounding : d->rm;
}

// Where NX is set already, rounding is to nearest, and the host's result is normal, the host's result is right and no
// flag changes: the only flag that it could raise is NX.
template <class F, auto EXACT, auto HOST, class P, class... A>
POLYLOOM_INLINE typename F::Bits compute(Hart<P>& h, int rounding, A... operands) {
    using Host = typename F::Host;
    if (rounding == RNE && h.flags & NX) [[likely]] {
        const Host result = HOST(std::bit_cast<Host>(operands)...);
        const Host size = std::abs(result);
        if (size > std::numeric_limits<Host>::min() && size <= std::numeric_limits<Host>::max()) [[likely]]
            return std::bit_cast<typename F::Bits>(result);
    }
    return EXACT(operands..., rounding, h.flags);
}

template <class P, class F, auto EXACT, auto HOST>
struct FloatUnary {
    template <class N>
    POLYLOOM_INLINE static void go(Hart<P>& h, const Decoded<P>* d, int64_t left, N next) {
        const int rounding = mode(h, d);
        if (rounding > RMM) [[unlikely]]
            return illegal(h, d, left);
        put<F>(h, d->rd, compute<F, EXACT, HOST>(h, rounding, get<F>(h, d->rs1)));
        return next(h, d + 1, left);
    }
};

template <class P, class F, auto EXACT, auto HOST>
struct FloatBinary {
    template <class N>
    POLYLOOM_INLINE static void go(Hart<P>& h, const Decoded<P>* d, int64_t left, N next) {
        const int rounding = mode(h, d);
        if (rounding > RMM) [[unlikely]]
            return illegal(h, d, left);
        put<F>(h, d->rd, compute<F, EXACT, HOST>(h, rounding, get<F>(h, d->rs1), get<F>(h, d->rs2)));
        return next(h, d + 1, left);
    }
};

// +-(rs1 * rs2) +- rs3: the signs of the product and of the addend.
template <class P, class F, bool PRODUCT, bool ADDEND>
struct FloatFused {
    template <class N>
    POLYLOOM_INLINE static void go(Hart<P>& h, const Decoded<P>* d, int64_t left, N next) {
        using Bits = typename F::Bits;
        using Host = typename F::Host;
        const int rounding = mode(h, d);
        if (rounding > RMM) [[unlikely]]
            return illegal(h, d, left);
        const Bits a = get<F>(h, d->rs1), c = get<F>(h, d->rs3);
        const Bits product = PRODUCT && !F::is_nan(a) ? a ^ F::SIGN : a;
        const Bits addend = ADDEND && !F::is_nan(c) ? c ^ F::SIGN : c;
        constexpr auto host = [](Host p, Host q, Host r) { return std::fma(p, q, r); };
        put<F>(h, d->rd, compute<F, fma<F>, host>(h, rounding, product, get<F>(h, d->rs2), addend));
        return next(h, d + 1, left);
    }
};

// A function of two registers' bits that needs no rounding: to a float, or to an integer register.
template <class P, class F, auto G>
struct FloatBits {
    template <class N>
    POLYLOOM_INLINE static void go(Hart<P>& h, const Decoded<P>* d, int64_t left, N next) {
        put<F>(h, d->rd, G(get<F>(h, d->rs1), get<F>(h, d->rs2), h.flags));
        return next(h, d + 1, left);
    }
};

template <class P, class F, auto G>
struct FloatTest {
    template <class N>
    POLYLOOM_INLINE static void go(Hart<P>& h, const Decoded<P>* d, int64_t left, N next) {
        h.x[d->rd] = G(get<F>(h, d->rs1), get<F>(h, d->rs2), h.flags);
        return next(h, d + 1, left);
    }
};

// Conversions are functions: their arithmetic is longer than what a step saves.
template <class P, class To, class From>
Answer float_convert(Hart<P>& h, const Decoded<P>& d) {
    if (mode(h, &d) > RMM) return ABSENT;
    put<To>(h, d.rd, convert<To, From>(get<From>(h, d.rs1), mode(h, &d), h.flags));
    return DONE;
}

// Integers of 32 bits are sign-extended, unsigned ones too.
template <class P, class F, class I>
Answer float_to_integer(Hart<P>& h, const Decoded<P>& d) {
    if (mode(h, &d) > RMM) return ABSENT;
    const I made = to_integer<I, F>(get<F>(h, d.rs1), mode(h, &d), h.flags);
    h.x[d.rd] = extended<typename P::X>(std::make_signed_t<I>(made));
    return DONE;
}

template <class P, class F, class I>
Answer integer_to_float(Hart<P>& h, const Decoded<P>& d) {
    if (mode(h, &d) > RMM) return ABSENT;
    put<F>(h, d.rd, from_integer<F>(I(h.x[d.rs1]), mode(h, &d), h.flags));
    return DONE;
}

// Moves take the bits as they are, boxed or not.
template <class P, class I>
struct FloatMoveOut {
    template <class N>
    POLYLOOM_INLINE static void go(Hart<P>& h, const Decoded<P>* d, int64_t left, N next) {
        h.x[d->rd] = extended<typename P::X>(I(P::Floats::raw(h.f[d->rs1])));
        return next(h, d + 1, left);
    }
};

template <class P, class F>
struct FloatMoveIn {
    template <class N>
    POLYLOOM_INLINE static void go(Hart<P>& h, const Decoded<P>* d, int64_t left, N next) {
        put<F>(h, d->rd, typename F::Bits(h.x[d->rs1]));
        return next(h, d + 1, left);
    }
};

template <class P, class F>
struct ToFloat {
    POLYLOOM_INLINE static void put(Hart<P>& h, int number, typename F::Bits bits) { riscv::put<F>(h, number, bits); }
};

template <class P, class F>
struct FromFloat {
    using Bits = typename F::Bits;
    POLYLOOM_INLINE static Bits get(const Hart<P>& h, int number) { return Bits(P::Floats::raw(h.f[number])); }
};

}  // namespace polyloom::riscv
