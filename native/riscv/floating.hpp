// SPDX-License-Identifier: Apache-2.0
// What the floating-point instructions do: float.hpp behind registers of 64 bits, in which a single is boxed in ones.
#pragma once

#include <cmath>
#include <limits>

#include "float.hpp"
#include "integer.hpp"

namespace polyloom::riscv {

template <class F, class X>
typename F::Bits get(const Hart<X>& h, int number) {
    const uint64_t bits = h.f[number];
    if constexpr (sizeof(typename F::Bits) == 4) return bits >> 32 == 0xffffffff ? uint32_t(bits) : F::NAN_BITS;
    return typename F::Bits(bits);
}

template <class F, class X>
void put(Hart<X>& h, int number, typename F::Bits bits) {
    h.f[number] = sizeof bits == 4 ? uint64_t(bits) | 0xffffffffull << 32 : uint64_t(bits);
}

// The rounding mode of an instruction: dyn is that of the register.
template <class X>
int mode(const Hart<X>& h, const Decoded<X>* d) {
    const int chosen = d->rm == 7 ? h.rounding : d->rm;
    if (chosen > RMM) throw Trap{Cause::illegal, 0};
    return chosen;
}

// Where NX is set already, rounding is to nearest, and the host's result is normal, the host's result is right and no flag
// changes: the only flag that it could raise is NX.
template <class F, auto EXACT, auto HOST, class X, class... A>
typename F::Bits compute(Hart<X>& h, const Decoded<X>* d, A... operands) {
    using Host = typename F::Host;
    const int rounding = mode(h, d);
    if (rounding == RNE && h.flags & NX) {
        const Host result = HOST(std::bit_cast<Host>(operands)...);
        if (std::abs(result) > std::numeric_limits<Host>::min() && std::abs(result) <= std::numeric_limits<Host>::max()) return std::bit_cast<typename F::Bits>(result);
    }
    return EXACT(operands..., rounding, h.flags);
}

template <class X, class F, auto EXACT, auto HOST>
const Decoded<X>* float_unary(Hart<X>& h, const Decoded<X>* d) {
    put<F>(h, d->rd, compute<F, EXACT, HOST>(h, d, get<F>(h, d->rs1)));
    return next(d);
}

template <class X, class F, auto EXACT, auto HOST>
const Decoded<X>* float_binary(Hart<X>& h, const Decoded<X>* d) {
    put<F>(h, d->rd, compute<F, EXACT, HOST>(h, d, get<F>(h, d->rs1), get<F>(h, d->rs2)));
    return next(d);
}

// +-(rs1 * rs2) +- rs3: the signs of the product and of the addend.
template <class X, class F, bool PRODUCT, bool ADDEND>
const Decoded<X>* float_fused(Hart<X>& h, const Decoded<X>* d) {
    using Bits = typename F::Bits;
    using Host = typename F::Host;
    const Bits a = get<F>(h, d->rs1), c = get<F>(h, d->rs3);
    const Bits product = PRODUCT && !F::is_nan(a) ? a ^ F::SIGN : a, addend = ADDEND && !F::is_nan(c) ? c ^ F::SIGN : c;
    constexpr auto host = [](Host p, Host q, Host r) { return std::fma(p, q, r); };
    put<F>(h, d->rd, compute<F, fma<F>, host>(h, d, product, get<F>(h, d->rs2), addend));
    return next(d);
}

// A function of two registers' bits that needs no rounding: to a float, or to an integer register.
template <class X, class F, auto G>
const Decoded<X>* float_bits(Hart<X>& h, const Decoded<X>* d) {
    put<F>(h, d->rd, G(get<F>(h, d->rs1), get<F>(h, d->rs2), h.flags));
    return next(d);
}

template <class X, class F, auto G>
const Decoded<X>* float_test(Hart<X>& h, const Decoded<X>* d) {
    h.x[d->rd] = G(get<F>(h, d->rs1), get<F>(h, d->rs2), h.flags);
    return next(d);
}

template <class X, class To, class From>
const Decoded<X>* float_convert(Hart<X>& h, const Decoded<X>* d) {
    put<To>(h, d->rd, convert<To, From>(get<From>(h, d->rs1), mode(h, d), h.flags));
    return next(d);
}

// Integers of 32 bits are sign-extended, unsigned ones too.
template <class X, class F, class I>
const Decoded<X>* float_to_integer(Hart<X>& h, const Decoded<X>* d) {
    h.x[d->rd] = X(std::make_signed_t<X>(std::make_signed_t<I>(to_integer<I, F>(get<F>(h, d->rs1), mode(h, d), h.flags))));
    return next(d);
}

template <class X, class F, class I>
const Decoded<X>* integer_to_float(Hart<X>& h, const Decoded<X>* d) {
    put<F>(h, d->rd, from_integer<F>(I(h.x[d->rs1]), mode(h, d), h.flags));
    return next(d);
}

// Moves take the bits as they are, boxed or not.
template <class X, class I>
const Decoded<X>* float_move_out(Hart<X>& h, const Decoded<X>* d) {
    h.x[d->rd] = X(std::make_signed_t<X>(I(h.f[d->rs1])));
    return next(d);
}

template <class X, class F>
const Decoded<X>* float_move_in(Hart<X>& h, const Decoded<X>* d) {
    put<F>(h, d->rd, typename F::Bits(h.x[d->rs1]));
    return next(d);
}

template <class X, class F>
const Decoded<X>* float_load(Hart<X>& h, const Decoded<X>* d) {
    put<F>(h, d->rd, h.template load<typename F::Bits>(h.x[d->rs1] + X(d->imm)));
    return next(d);
}

template <class X, class F>
const Decoded<X>* float_store(Hart<X>& h, const Decoded<X>* d) {
    h.template store<typename F::Bits>(h.x[d->rs1] + X(d->imm), typename F::Bits(h.f[d->rs2]));
    return next(d);
}

// The rows of one format stand in the same order in the table: `first` is its load.
struct FloatOps {
    Op load, store, madd, msub, nmsub, nmadd, add, sub, mul, div, sqrt, sgnj, sgnjn, sgnjx, min, max, eq, lt, le, fclass, to_w, to_wu, to_l, to_lu, from_w, from_wu, from_l, from_lu;
};
#define POLYLOOM_FLOAT_OPS(S, LOAD, STORE)                                                                                                              \
    FloatOps {                                                                                                                                          \
        Op::LOAD, Op::STORE, Op::FMADD_##S, Op::FMSUB_##S, Op::FNMSUB_##S, Op::FNMADD_##S, Op::FADD_##S, Op::FSUB_##S, Op::FMUL_##S, Op::FDIV_##S,      \
            Op::FSQRT_##S, Op::FSGNJ_##S, Op::FSGNJN_##S, Op::FSGNJX_##S, Op::FMIN_##S, Op::FMAX_##S, Op::FEQ_##S, Op::FLT_##S, Op::FLE_##S,            \
            Op::FCLASS_##S, Op::FCVT_W_##S, Op::FCVT_WU_##S, Op::FCVT_L_##S, Op::FCVT_LU_##S, Op::FCVT_##S##_W, Op::FCVT_##S##_WU, Op::FCVT_##S##_L,    \
            Op::FCVT_##S##_LU                                                                                                                           \
    }

template <class X, class F>
void float_handlers(Handlers<X>& t, const FloatOps& ops) {
    using Bits = typename F::Bits;
    using Host = typename F::Host;
    const auto on = [&](Op op) -> Handler<X>& { return t[size_t(op)]; };
    on(ops.load) = float_load<X, F>;
    on(ops.store) = float_store<X, F>;
    on(ops.madd) = float_fused<X, F, false, false>;
    on(ops.msub) = float_fused<X, F, false, true>;
    on(ops.nmsub) = float_fused<X, F, true, false>;
    on(ops.nmadd) = float_fused<X, F, true, true>;
    on(ops.add) = float_binary<X, F, add<F>, [](Host a, Host b) { return a + b; }>;
    on(ops.sub) = float_binary<X, F, sub<F>, [](Host a, Host b) { return a - b; }>;
    on(ops.mul) = float_binary<X, F, mul<F>, [](Host a, Host b) { return a * b; }>;
    on(ops.div) = float_binary<X, F, div<F>, [](Host a, Host b) { return a / b; }>;
    on(ops.sqrt) = float_unary<X, F, sqrt<F>, [](Host a) { return std::sqrt(a); }>;
    on(ops.sgnj) = float_bits<X, F, [](Bits a, Bits b, uint8_t&) -> Bits { return (a & ~F::SIGN) | (b & F::SIGN); }>;
    on(ops.sgnjn) = float_bits<X, F, [](Bits a, Bits b, uint8_t&) -> Bits { return (a & ~F::SIGN) | (~b & F::SIGN); }>;
    on(ops.sgnjx) = float_bits<X, F, [](Bits a, Bits b, uint8_t&) -> Bits { return a ^ (b & F::SIGN); }>;
    on(ops.min) = float_bits<X, F, extreme<F, false>>;
    on(ops.max) = float_bits<X, F, extreme<F, true>>;
    on(ops.eq) = float_test<X, F, equal<F>>;
    on(ops.lt) = float_test<X, F, less<F>>;
    on(ops.le) = float_test<X, F, less_or_equal<F>>;
    on(ops.fclass) = float_test<X, F, [](Bits a, Bits, uint8_t&) { return classify<F>(a); }>;
    on(ops.to_w) = float_to_integer<X, F, int32_t>;
    on(ops.to_wu) = float_to_integer<X, F, uint32_t>;
    on(ops.from_w) = integer_to_float<X, F, int32_t>;
    on(ops.from_wu) = integer_to_float<X, F, uint32_t>;
    if constexpr (sizeof(X) == 8) {
        on(ops.to_l) = float_to_integer<X, F, int64_t>;
        on(ops.to_lu) = float_to_integer<X, F, uint64_t>;
        on(ops.from_l) = integer_to_float<X, F, int64_t>;
        on(ops.from_lu) = integer_to_float<X, F, uint64_t>;
    }
}

template <class X>
void floating_handlers(Handlers<X>& t) {
    float_handlers<X, Single>(t, POLYLOOM_FLOAT_OPS(S, FLW, FSW));
    float_handlers<X, Double>(t, POLYLOOM_FLOAT_OPS(D, FLD, FSD));
    t[size_t(Op::FCVT_S_D)] = float_convert<X, Single, Double>;
    t[size_t(Op::FCVT_D_S)] = float_convert<X, Double, Single>;
    t[size_t(Op::FMV_X_W)] = float_move_out<X, int32_t>;
    t[size_t(Op::FMV_W_X)] = float_move_in<X, Single>;
    if constexpr (sizeof(X) == 8) {
        t[size_t(Op::FMV_X_D)] = float_move_out<X, int64_t>;
        t[size_t(Op::FMV_D_X)] = float_move_in<X, Double>;
    }
}

}  // namespace polyloom::riscv
