// SPDX-License-Identifier: Apache-2.0
// The operators of vectors. An operand may be a vector, 32 datums of Dst, a constant register or a scalar; at least one
// is not a scalar. A scalar that is subtracted from a float changes its sign at compile time; in sums a scalar comes
// first, as in SFPADDI, which matters to the sign of a NaN alone.
#ifndef POLYLOOM_SFPI_OPERATORS_H
#define POLYLOOM_SFPI_OPERATORS_H

namespace sfpi {
namespace impl_ {

template <class T>
struct Constants {
    using type = T;
};
template <Vector T>
struct Constants<ConstantRegister<T>> {
    using type = T;
};
// A constant register counts as the vector that it is read as.
template <class T>
using Read = typename Constants<std::remove_cvref_t<T>>::type;

template <class T>
constexpr bool IS_FLOAT = Derived<Read<T>, vFloat> || IS_DATUMS<Read<T>>;
template <class T>
constexpr bool IS_HALF = std::is_same_v<Read<T>, sFloat16a> || std::is_same_v<Read<T>, sFloat16b>;
template <class T>
constexpr bool IS_INT = Derived<Read<T>, vInt>;
template <class T>
constexpr bool IS_MAG = Derived<Read<T>, vMag>;
template <class T>
constexpr bool IS_UNSIGNED = Derived<Read<T>, vUInt>;
template <class T>
constexpr bool IS_WHOLE = IS_INT<T> || IS_UNSIGNED<T>;
template <class T>
constexpr bool IS_SIGNED_MAG = Derived<Read<T>, vSMag>;

template <class A, class B>
concept Floats = (IS_FLOAT<A> && (IS_FLOAT<B> || Scalar<Read<B>> || IS_HALF<B>)) ||
                 (IS_FLOAT<B> && (Scalar<Read<A>> || IS_HALF<A>));
template <class A, class B>
concept Wholes = (IS_WHOLE<A> && (IS_WHOLE<B> || Integer<Read<B>> || IS_DATUMS<Read<B>>)) ||
                 (IS_WHOLE<B> && (Integer<Read<A>> || IS_DATUMS<Read<A>>));

// Sums are signed where one operand is; of bits, where both are. A magnitude joins either.
template <class A, class B>
using Sum = std::conditional_t<(IS_INT<A> || IS_INT<B>) && !((IS_UNSIGNED<A> && !IS_MAG<A>) || (IS_UNSIGNED<B> && !IS_MAG<B>)),
                               vInt, vUInt>;
template <class A, class B>
using Bits = std::conditional_t<IS_UNSIGNED<A> || IS_UNSIGNED<B>, vUInt, vInt>;
template <class A, class B>
using Common = std::conditional_t<(IS_MAG<A> || Integer<Read<A>>) && (IS_MAG<B> || Integer<Read<B>>), vMag, Bits<A, B>>;

template <Vector To, class T>
sfpi_inline sfpu_t read(T const &value) {
    if constexpr (Vector<T>) return value.get();
    else return To(value).get();
}

}  // namespace impl_

template <class A, class B>
    requires impl_::Floats<A, B>
sfpi_inline vFloat operator+(A const &a, B const &b) {
    impl_::sfpu_t const left = impl_::read<vFloat>(a), right = impl_::read<vFloat>(b);
    if constexpr (impl_::Scalar<B>) return __sfpi_sfpadd(right, left, 0);
    else return __sfpi_sfpadd(left, right, 0);
}
template <class A, class B>
    requires impl_::Floats<A, B>
sfpi_inline vFloat operator-(A const &a, B const &b) {
    impl_::sfpu_t const left = impl_::read<vFloat>(a);
    if constexpr (impl_::Scalar<B>) return __sfpi_sfpadd(__sfpi_splat(impl_::bits_of(float(b)) ^ int(0x80000000u)), left, 0);
    else return __sfpi_sfpsub(left, impl_::read<vFloat>(b));
}
template <class A, class B>
    requires impl_::Floats<A, B>
sfpi_inline vFloat operator*(A const &a, B const &b) {
    impl_::sfpu_t const left = impl_::read<vFloat>(a), right = impl_::read<vFloat>(b);
    return __sfpi_sfpmul(left, right, 0);
}
// A divisor that is a power of two has a reciprocal that is exact; every other quotient would round twice. The call has
// no body, and is gone where the divisor is such a constant.
extern "C" void __sfpi_inexact_division();
template <class A, impl_::Scalar B>
    requires impl_::IS_FLOAT<A>
sfpi_inline vFloat operator/(A const &a, B b) {
    unsigned const bits = unsigned(impl_::bits_of(float(b))), exponent = bits >> 23 & 255u;
    if ((bits & 0x7FFFFFu) != 0 || exponent == 0 || exponent > 253) __sfpi_inexact_division();
    return a * __builtin_bit_cast(float, (bits & 0x80000000u) | (254u - exponent) << 23);
}
#define __SFPI_NO_DIVISION \
    __attribute__((unavailable("the vector unit has no division: multiply by a reciprocal that Newton's steps improve, as in examples/sfpi/recip.h")))
#define __SFPI_NO_PRODUCT \
    __attribute__((unavailable("the vector unit has no product of integers: write shifts and additions, `h * 5` as `(h << 2) + h`")))
template <class A, class B>
    requires((impl_::IS_FLOAT<B> && (impl_::IS_FLOAT<A> || impl_::Scalar<impl_::Read<A>>)) || impl_::Wholes<A, B>)
__SFPI_NO_DIVISION sfpi_inline vFloat operator/(A const &a, B const &b);
template <class A, class B>
    requires impl_::Wholes<A, B>
__SFPI_NO_PRODUCT sfpi_inline vInt operator*(A const &a, B const &b);
template <class A>
    requires impl_::IS_FLOAT<A>
sfpi_inline vFloat operator-(A const &a) {
    return __sfpi_sfpmov(impl_::read<vFloat>(a), 1);
}
template <class A>
    requires impl_::IS_FLOAT<A>
sfpi_inline vFloat operator+(A const &a) {
    return impl_::read<vFloat>(a);
}

template <class A, class B>
    requires impl_::Wholes<A, B>
sfpi_inline auto operator+(A const &a, B const &b) {
    using T = impl_::Sum<A, B>;
    if constexpr (impl_::Integer<B>) return T(__sfpi_sfpiadd_i(impl_::read<T>(a), int(b), 4));
    else if constexpr (impl_::Integer<A>) return T(__sfpi_sfpiadd_i(impl_::read<T>(b), int(a), 4));
    else return T(__sfpi_sfpiadd_v(impl_::read<T>(a), impl_::read<T>(b), 4));
}
template <class A, class B>
    requires impl_::Wholes<A, B>
sfpi_inline auto operator-(A const &a, B const &b) {
    using T = impl_::Sum<A, B>;
    if constexpr (impl_::Integer<B>) return T(__sfpi_sfpiadd_i(impl_::read<T>(a), -int(b), 4));
    else {
        impl_::sfpu_t const left = impl_::read<T>(a);
        return T(__sfpi_sfpiadd_v(impl_::read<T>(b), left, 6));
    }
}
template <class A>
    requires impl_::IS_WHOLE<A>
sfpi_inline auto operator-(A const &a) {
    return 0 - a;
}
template <class A>
    requires impl_::IS_WHOLE<A>
sfpi_inline auto operator+(A const &a) {
    return impl_::Read<A>(a);
}
template <class A>
    requires impl_::IS_WHOLE<A>
sfpi_inline auto operator~(A const &a) {
    using T = impl_::Bits<A, A>;
    return T(__sfpi_sfpnot(impl_::read<T>(a)));
}

template <class A, class B>
    requires impl_::Wholes<A, B>
sfpi_inline auto operator&(A const &a, B const &b) {
    using T = impl_::Common<A, B>;
    impl_::sfpu_t const left = impl_::read<T>(a), right = impl_::read<T>(b);
    return T(__sfpi_sfpand(left, right));
}
template <class A, class B>
    requires impl_::Wholes<A, B>
sfpi_inline auto operator|(A const &a, B const &b) {
    using T = impl_::Bits<A, B>;
    impl_::sfpu_t const left = impl_::read<T>(a), right = impl_::read<T>(b);
    return T(__sfpi_sfpor(left, right));
}
template <class A, class B>
    requires impl_::Wholes<A, B>
sfpi_inline auto operator^(A const &a, B const &b) {
    using T = impl_::Bits<A, B>;
    impl_::sfpu_t const left = impl_::read<T>(a), right = impl_::read<T>(b);
    return T(__sfpi_sfpxor(left, right));
}
template <class A, impl_::Integer B>
    requires impl_::IS_SIGNED_MAG<A>
sfpi_inline vUInt operator&(A const &a, B b) {
    return __sfpi_sfpand(a.get(), __sfpi_splat(int(b)));
}

#ifdef ARCH_BLACKHOLE
namespace impl_ {
template <class T>
constexpr int SHIFTED = IS_INT<T> ? 2 : 0;
}
#define __SFPI_SIGNED_SHIFT
#else
namespace impl_ {
template <class T>
constexpr int SHIFTED = 0;
}
#define __SFPI_SIGNED_SHIFT \
    __attribute__((unavailable("a Wormhole tile has no arithmetic shift: shift a vUInt, or compile for Blackhole")))
#endif

template <class A, class B>
    requires(impl_::IS_WHOLE<A> && (impl_::IS_WHOLE<B> || impl_::Integer<B>))
sfpi_inline auto operator<<(A const &a, B const &amount) {
    using T = impl_::Bits<A, A>;
    if constexpr (impl_::Integer<B>) return T(__sfpi_sfpshft_i(impl_::read<T>(a), int(amount), impl_::SHIFTED<A>));
    else return T(__sfpi_sfpshft_v(impl_::read<T>(a), impl_::read<vInt>(amount), impl_::SHIFTED<A>));
}
template <class A, class B>
    requires(impl_::IS_UNSIGNED<A> && (impl_::IS_WHOLE<B> || impl_::Integer<B>))
sfpi_inline auto operator>>(A const &a, B const &amount) {
    using T = std::conditional_t<impl_::IS_MAG<A>, vMag, vUInt>;
    if constexpr (impl_::Integer<B>) return T(__sfpi_sfpshft_i(impl_::read<T>(a), -int(amount), 0));
    else return T(__sfpi_sfpshft_v(impl_::read<T>(a), (0 - vInt(amount)).get(), 0));
}
template <class A, class B>
    requires(impl_::IS_INT<A> && (impl_::IS_WHOLE<B> || impl_::Integer<B>))
__SFPI_SIGNED_SHIFT sfpi_inline vInt operator>>(A const &a, B const &amount) {
    if constexpr (impl_::Integer<B>) return vInt(__sfpi_sfpshft_i(impl_::read<vInt>(a), -int(amount), 2));
    else return vInt(__sfpi_sfpshft_v(impl_::read<vInt>(a), (0 - vInt(amount)).get(), 2));
}

}  // namespace sfpi

#endif
