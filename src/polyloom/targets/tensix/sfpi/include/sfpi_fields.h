// SPDX-License-Identifier: Apache-2.0
// Fields of numbers: exponents, mantissas, signs, leading zeros, magnitudes, shifts by lane, and the classes of floats.
#ifndef POLYLOOM_SFPI_FIELDS_H
#define POLYLOOM_SFPI_FIELDS_H

namespace sfpi {

struct ExponentMode {
    enum Values { Unbiased, Biased, Debias = Unbiased, NoDebias = Biased };
    Values value;
    sfpi_inline constexpr ExponentMode(Values v) : value(v) {}
    sfpi_inline constexpr operator Values() const { return value; }
};
enum class MantissaMode { FractionOnly, WithUnitBit, ImplicitOne = WithUnitBit };
enum class LZMode { All, IgnoreSign };
enum class LdexpMode { Correct, Fast };
enum class ShiftMode { Logical, Arithmetic };

namespace impl_ {

// What arguments of the library may be: a vector, or what becomes one.
template <class T>
concept Real = IS_FLOAT<T> || Scalar<Read<T>> || IS_HALF<T>;
template <class T>
concept Signed = IS_FLOAT<T> || IS_INT<T> || IS_SIGNED_MAG<T>;
template <class T>
using Plain = std::conditional_t<IS_FLOAT<T>, vFloat, Read<T>>;

template <class T>
sfpi_inline sfpu_t lanes(T const &value) {
    return read<Plain<T>>(value);
}

}  // namespace impl_

sfpi_inline vInt exexp(vFloat v, ExponentMode mode = ExponentMode::Unbiased) {
    return __sfpi_sfpexexp(v.get(), mode == ExponentMode::Biased);
}
sfpi_inline vInt exexp_nodebias(vFloat v) { return exexp(v, ExponentMode::Biased); }

sfpi_inline vMag exman(vFloat v, MantissaMode mode = MantissaMode::FractionOnly) {
    return vMag(__sfpi_sfpexman(v.get(), mode == MantissaMode::FractionOnly));
}
sfpi_inline vInt exman8(vFloat v) { return __sfpi_sfpexman(v.get(), 0); }
sfpi_inline vInt exman9(vFloat v) { return __sfpi_sfpexman(v.get(), 1); }

template <class T>
    requires impl_::Signed<T>
sfpi_inline vUInt exsgn(T const &v) {
    return vUInt(impl_::lanes(v)) >> 31;
}

// The exponent of a vector, from bits 7:0 of another or of a scalar.
template <class E>
    requires(impl_::IS_WHOLE<E> || impl_::Integer<E>)
sfpi_inline vFloat setexp(vFloat v, E const &exponent) {
    if constexpr (impl_::Integer<E>) return __sfpi_sfpsetexp_i(v.get(), int(exponent), 0);
    else return __sfpi_sfpsetexp_v(v.get(), impl_::lanes(exponent), 0);
}
sfpi_inline vFloat copyexp(vFloat v, vFloat from) { return __sfpi_sfpsetexp_v(v.get(), from.get(), 2); }
sfpi_inline vFloat addexp(vFloat v, int exponent) { return __sfpi_sfpdivp2(v.get(), exponent, 1); }

template <class M>
    requires(impl_::IS_WHOLE<M> || impl_::IS_SIGNED_MAG<M> || impl_::IS_FLOAT<M> || impl_::Integer<M>)
sfpi_inline vFloat setman(vFloat v, M const &mantissa) {
    if constexpr (impl_::Integer<M>) return __sfpi_sfpsetman_i(v.get(), int(mantissa), 0);
    else return __sfpi_sfpsetman_v(v.get(), impl_::lanes(mantissa), 0);
}
sfpi_inline vFloat copyman(vFloat v, vFloat from) { return __sfpi_sfpsetman_v(v.get(), from.get(), 0); }

// The sign from bit 0 of a scalar, or from the sign bit of a vector. Integers keep their type.
template <class T, impl_::Integer S>
    requires(!impl_::Scalar<T>)
sfpi_inline auto setsgn(T const &v, S sign) {
    using R = std::conditional_t<impl_::IS_UNSIGNED<T>, vSMag, impl_::Plain<T>>;
    return R(__sfpi_sfpsetsgn_i(impl_::lanes(v), int(sign), 0));
}
template <class T, class S>
    requires(!impl_::Scalar<T> && !impl_::Scalar<S>)
sfpi_inline auto copysgn(T const &v, S const &sign) {
    using R = std::conditional_t<impl_::IS_UNSIGNED<T>, vSMag, impl_::Plain<T>>;
    impl_::sfpu_t const value = impl_::lanes(v);
    return R(__sfpi_sfpsetsgn_v(value, impl_::lanes(sign), 0));
}
template <impl_::Scalar T, class S>
    requires(!impl_::Scalar<S>)
sfpi_inline vFloat copysgn(T v, S const &sign) {
    return copysgn(vFloat(v), sign);
}
template <class T, class S>
    requires(!impl_::Scalar<S>)
sfpi_inline auto setsgn(T const &v, S const &sign) {
    return copysgn(v, sign);
}
// The sign from bit 0 of a vector.
template <class T, class S>
sfpi_inline auto setsgn2(T const &v, S const &sign) {
    return copysgn(v, vSMag((vUInt(impl_::lanes(sign)) << 31).get()));
}

sfpi_inline vFloat ldexp(vFloat v, int scale, LdexpMode = LdexpMode::Correct) { return addexp(v, scale); }
sfpi_inline vFloat ldexp(vFloat v, vInt scale, LdexpMode mode = LdexpMode::Correct) {
    if (mode == LdexpMode::Fast) return setexp(v, exexp(v, ExponentMode::Biased) + scale);
    return v * setexp(vFloat(0.0f), scale + 127);
}

template <class T>
    requires impl_::IS_FLOAT<T>
sfpi_inline vFloat abs(T const &v) {
    return __sfpi_sfpabs(impl_::lanes(v), 1);
}
template <class T>
    requires impl_::IS_INT<T>
sfpi_inline vMag abs(T const &v) {
    return vMag(__sfpi_sfpabs(impl_::lanes(v), 0));
}
template <class T>
    requires impl_::IS_SIGNED_MAG<T>
sfpi_inline vMag abs(T const &v) {
    return vMag(__sfpi_sfpsetsgn_i(v.get(), 0, 0));
}

template <class T>
    requires(!impl_::Scalar<T>)
sfpi_inline vMag lz(T const &v, LZMode mode = LZMode::All) {
    return vMag(__sfpi_sfplz(impl_::lanes(v), mode == LZMode::IgnoreSign ? 4 : 0));
}
template <class T>
sfpi_inline vInt lz_nosgn(T const &v) {
    return __sfpi_sfplz(impl_::lanes(v), 4);
}

// Left, and right where the amount is negative.
template <class T, class Amount>
    requires(impl_::IS_WHOLE<T> && (impl_::IS_WHOLE<Amount> || impl_::Integer<Amount>))
sfpi_inline auto shft(T const &v, Amount const &amount, ShiftMode mode = ShiftMode::Logical) {
    using R = std::conditional_t<impl_::IS_INT<T>, vInt, vUInt>;
    int const kind = mode == ShiftMode::Arithmetic ? 2 : 0;
    if constexpr (impl_::Integer<Amount>) return R(__sfpi_sfpshft_i(impl_::lanes(v), int(amount), kind));
    else return R(__sfpi_sfpshft_v(impl_::lanes(v), impl_::lanes(amount), kind));
}

sfpi_inline vBool is_nan(vFloat v) { return exexp(v, ExponentMode::Biased) >= 255 && exman(v) != 0; }
sfpi_inline vBool is_inf(vFloat v) { return exexp(v, ExponentMode::Biased) >= 255 && exman(v) == 0; }
sfpi_inline vBool is_finite(vFloat v) { return exexp(v, ExponentMode::Biased) < 255; }
sfpi_inline vBool is_normal(vFloat v) {
    vInt const exponent = exexp(v, ExponentMode::Biased);
    return exponent < 255 && exponent != 0;
}
sfpi_inline vBool is_subnormal(vFloat v) { return exexp(v, ExponentMode::Biased) == 0 && exman(v) != 0; }
sfpi_inline vBool is_zero(vFloat v) { return (as<vUInt>(v) << 1) == 0; }
sfpi_inline vBool is_pos(vFloat v) { return as<vInt>(v) >= 0; }
sfpi_inline vBool is_neg(vFloat v) { return as<vInt>(v) < 0; }

}  // namespace sfpi

#endif
