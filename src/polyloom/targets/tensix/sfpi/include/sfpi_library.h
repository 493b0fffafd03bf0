// SPDX-License-Identifier: Apache-2.0
// Functions of several vectors: minima and exchanges, polynomials, what moves lanes, and what Blackhole alone has.
#ifndef POLYLOOM_SFPI_LIBRARY_H
#define POLYLOOM_SFPI_LIBRARY_H

namespace sfpi {
namespace impl_ {

// SFPSWAP orders what has a sign and a magnitude: floats, and integers in that form.
template <class T>
concept Ordered = IS_FLOAT<T> || IS_SIGNED_MAG<T>;
template <class A, class B>
concept OrderedPair = (Ordered<A> && (Ordered<B> || Scalar<Read<B>>)) || (Ordered<B> && Scalar<Read<A>>);
template <class A, class B>
using Pair = std::conditional_t<IS_SIGNED_MAG<A> || IS_SIGNED_MAG<B>, vSMag, vFloat>;

// The mode of SFPSWAP whose first result is the smaller one except in the rows of `mask`: of a bit per row of eight
// lanes, or of a byte per row. 0 where no mode has these rows.
sfpi_inline constexpr int swap_mode(std::uint32_t rows) {
    switch (rows) {
        case 0x0: return 1;
        case 0xC: return 2;
        case 0xA: return 3;
        case 0x6: return 4;
        case 0xE: return 5;
        case 0xD: return 6;
        case 0xB: return 7;
        case 0x7: return 8;
        case 0xF: return 9;
        default: return 0;
    }
}
sfpi_inline constexpr std::uint32_t rows_of(std::uint32_t mask) {
    if (mask < 16) return mask;
    return (mask & 1) | ((mask >> 7) & 2) | ((mask >> 14) & 4) | ((mask >> 21) & 8);
}

}  // namespace impl_

// The smaller and the larger; in the rows of `mask`, which has a bit or a byte for each, the larger and the smaller.
template <class A, class B>
    requires impl_::OrderedPair<A, B>
sfpi_inline auto min_max(A const &a, B const &b, std::uint32_t mask = 0) {
    using T = impl_::Pair<A, B>;
    impl_::sfpu_t const left = impl_::read<T>(a), right = impl_::read<T>(b);
    std::uint32_t const rows = impl_::rows_of(mask);
    int const mode = impl_::swap_mode(rows);
    if (mode == 0 || mode == 9) {
        __sfpi_v2 const turned = __sfpi_sfpswap(right, left, mode == 9 ? 1 : impl_::swap_mode(15 ^ rows));
        return std::pair<T, T>(T(turned.second), T(turned.first));
    }
    __sfpi_v2 const both = __sfpi_sfpswap(left, right, mode);
    return std::pair<T, T>(T(both.first), T(both.second));
}

template <class A, class B>
    requires impl_::OrderedPair<A, B>
sfpi_inline auto min(A const &a, B const &b) {
    using T = impl_::Pair<A, B>;
    impl_::sfpu_t const left = impl_::read<T>(a), right = impl_::read<T>(b);
    return T(__sfpi_sfpswap(left, right, 1).first);
}
template <class A, class B>
    requires impl_::OrderedPair<A, B>
sfpi_inline auto max(A const &a, B const &b) {
    using T = impl_::Pair<A, B>;
    impl_::sfpu_t const left = impl_::read<T>(a), right = impl_::read<T>(b);
    return T(__sfpi_sfpswap(left, right, 1).second);
}
template <class A, class B, class C>
    requires impl_::OrderedPair<A, B>
sfpi_inline auto clamp(A const &v, B const &lower, C const &upper) {
    return min(max(v, lower), upper);
}
sfpi_inline vFloat symmetric_clamp(vFloat v, float bound) { return copysgn(min(abs(v), bound), v); }

// Unsigned numbers against a constant: those with bit 31 order in reverse as sign and magnitude.
sfpi_inline vUInt min(vUInt v, std::uint32_t bound) {
    if (std::int32_t(bound) >= 0) return ~as<vUInt>(min(as<vSMag>(~v), vSMag(~bound)));
    return as<vUInt>(max(as<vSMag>(v), vSMag(bound)));
}
sfpi_inline vUInt max(vUInt v, std::uint32_t bound) {
    if (std::int32_t(bound) >= 0) return ~as<vUInt>(max(as<vSMag>(~v), vSMag(~bound)));
    return as<vUInt>(min(as<vSMag>(v), vSMag(bound)));
}
sfpi_inline vUInt clamp(vUInt v, std::uint32_t lower, std::uint32_t upper) { return min(max(v, lower), upper); }

template <Vector T>
sfpi_inline void swap(T &a, T &b) {
    __sfpi_v2 const both = __sfpi_sfpswap(a.get(), b.get(), 0);
    a = T(both.first);
    b = T(both.second);
}
template <Vector T>
sfpi_inline void vec_swap(T &a, T &b) {
    swap(a, b);
}
template <Vector T>
sfpi_inline void vec_min_max(T &smaller, T &larger) {
    __sfpi_v2 const both = __sfpi_sfpswap(smaller.get(), larger.get(), 1);
    smaller = T(both.first);
    larger = T(both.second);
}

namespace impl_ {

// A rounded float, and the integer that it is.
struct FloatInt : std::pair<vFloat, vInt> {
    using pair::pair;
    sfpi_inline operator vFloat() const { return first; }
    sfpi_inline operator vInt() const { return second; }
};

}  // namespace impl_

// To the nearest integer, of magnitudes below 2^22: adding 1.5 * 2^23 leaves the integer in the low bits.
sfpi_inline impl_::FloatInt round(vFloat v) {
    vFloat const magic = 0x1.8p23f;
    vFloat const sum = v + magic;
    return {sum - magic, as<vInt>(sum) - as<vInt>(magic)};
}

// c0 + v * (c1 + v * (c2 + ...)): the innermost sum first, so that each constant is loaded where it is used.
sfpi_inline vFloat polynomial(vFloat) { return 0.0f; }
template <class C>
sfpi_inline vFloat polynomial(vFloat, C const &c0) {
    return vFloat(c0);
}
template <class C, class... Cs>
    requires(sizeof...(Cs) > 0)
sfpi_inline vFloat polynomial(vFloat v, C const &c0, Cs const &...cs) {
    return v * polynomial(v, cs...) + c0;
}

// Row i of register j becomes row j of register i, by columns.
template <Vector T>
sfpi_inline void subvec_transp(T &a, T &b, T &c, T &d) {
    impl_::sfpu_t const four = __sfpi_transposed(a.get(), b.get(), c.get(), d.get());
    impl_::sfpu_t const p = __sfpi_part(four, 0), q = __sfpi_part(four, 1);
    impl_::sfpu_t const r = __sfpi_part(four, 2), s = __sfpi_part(four, 3);
    a = T(p);
    b = T(q);
    c = T(r);
    d = T(s);
}
template <Vector T>
sfpi_inline T subvec_shflror1(T const &v) {
    return T(__sfpi_sfpshft2_subvec_shfl1(v.get(), 3));
}
template <Vector T>
sfpi_inline T subvec_shflshr1(T const &v) {
    return T(__sfpi_sfpshft2_subvec_shfl1(v.get(), 4));
}

#ifdef ARCH_BLACKHOLE
#define __SFPI_BLACKHOLE(what)
#else
#define __SFPI_BLACKHOLE(what) __attribute__((unavailable("a Wormhole tile has no " what ": compile for Blackhole")))
#endif

enum class RecipMode { All, IfNegative };
enum class FractionalHalf { Low, High };

__SFPI_BLACKHOLE("instruction for random numbers") sfpi_inline vInt rand() { return __sfpi_rand(); }
__SFPI_BLACKHOLE("SFPARECIP") sfpi_inline vFloat approx_recip(vFloat v, RecipMode mode = RecipMode::All) {
    return __sfpi_sfparecip(v.get(), mode == RecipMode::All ? 0 : 1);
}
template <bool unconditional>
__SFPI_BLACKHOLE("SFPARECIP") sfpi_inline vFloat approx_recip(vFloat v) {
    return __sfpi_sfparecip(v.get(), unconditional ? 0 : 1);
}
__SFPI_BLACKHOLE("SFPARECIP") sfpi_inline vFloat approx_exp(vFloat v) { return __sfpi_sfparecip(v.get(), 2); }
__SFPI_BLACKHOLE("function of its own for this, which is `max(v, 0.0f)`") sfpi_inline vFloat rectified_linear_unit(vFloat v) { return max(v, 0.0f); }
template <Vector A, Vector B>
__SFPI_BLACKHOLE("SFPMUL24") sfpi_inline vMag fractional_mul(A const &a, B const &b, FractionalHalf half = FractionalHalf::Low) {
    return vMag(__sfpi_sfpmul24(a.get(), b.get(), half == FractionalHalf::High));
}

}  // namespace sfpi

#endif
