// SPDX-License-Identifier: Apache-2.0
// Conversions between kinds of numbers, and their roundings: `convert` rounds to nearest unless told otherwise, the
// older functions stochastically.
#ifndef POLYLOOM_SFPI_CONVERT_H
#define POLYLOOM_SFPI_CONVERT_H

namespace sfpi {

struct RoundMode {
    enum Values {
        Nearest = 0,
        NearestAway = Nearest,
        NearestEven = Nearest,
        NearestStochastic = 1,
        Stochastic = NearestStochastic,
#ifdef ARCH_BLACKHOLE
        Zero = 2,
#endif
    };
    int value;
    sfpi_inline constexpr RoundMode(Values v) : value(v) {}
    // The older spelling: 0 to nearest, 1 stochastic.
    sfpi_inline constexpr RoundMode(int v) : value(v) {}
    sfpi_inline constexpr operator int() const { return value; }
};

namespace impl_ {

// The modes of SFP_STOCH_RND from a float.
template <class To>
sfpi_inline constexpr int rounding_mode() {
    if constexpr (std::is_same_v<To, vFloat16a>) return 0;
    else if constexpr (std::is_same_v<To, vFloat16b>) return 1;
    else if constexpr (std::is_same_v<To, vUInt8>) return 2;
    else if constexpr (std::is_same_v<To, vSMag8>) return 3;
    else if constexpr (std::is_same_v<To, vUInt16>) return 6;
    else if constexpr (std::is_same_v<To, vSMag16>) return 7;
    else return -1;
}

sfpi_inline sfpu_t to_magnitude(sfpu_t value) {
#ifdef ARCH_BLACKHOLE
    return __sfpi_sfpcast(value, 3);
#else
    return __sfpi_sfpsetsgn_v(__sfpi_sfpabs(value, 0), value, 0);
#endif
}
sfpi_inline sfpu_t from_magnitude(sfpu_t value) {
    vInt result = value;
    v_if(vInt(value) < 0) { result = 0 - vInt(__sfpi_sfpsetsgn_i(value, 0, 0)); }
    v_endif;
    return result.get();
}

// Which pairs of kinds convert.
template <class To, class From>
concept Converts = Vector<To> &&
                   (std::is_same_v<To, From> || (IS_FLOAT<From> && rounding_mode<To>() >= 0) ||
                    ((IS_SIGNED_MAG<From> || IS_INT<From> || IS_MAG<From>) && (Derived<To, vFloat> || std::is_same_v<To, vInt>)) ||
                    (IS_INT<From> && std::is_same_v<To, vSMag>) || (IS_MAG<From> && std::is_same_v<To, vSMag>));

}  // namespace impl_

template <class To, class From>
    requires impl_::Converts<To, impl_::Plain<From>>
sfpi_inline To convert(From const &given, RoundMode mode = RoundMode::Nearest) {
    using Kind = impl_::Plain<From>;
    Kind const v(given);
    if constexpr (std::is_same_v<Kind, To>) return v;
    else if constexpr (impl_::IS_FLOAT<Kind>) return To(__sfpi_sfpstochrnd_i(v.get(), 0, impl_::rounding_mode<To>(), mode));
    else if constexpr (std::is_same_v<To, vSMag>) {
        if constexpr (impl_::IS_MAG<Kind>) return To(v.get());
        else return To(impl_::to_magnitude(v.get()));
    } else if constexpr (std::is_same_v<To, vInt>) {
        if constexpr (impl_::IS_SIGNED_MAG<Kind>) return To(impl_::from_magnitude(v.get()));
        else return To(v.get());
    } else {
        impl_::sfpu_t number = v.get();
        if constexpr (impl_::IS_INT<Kind>) number = impl_::to_magnitude(number);
        vFloat const exact = __sfpi_sfpcast(number, mode);
        if constexpr (std::is_same_v<To, vFloat>) return exact;
        else return convert<To>(exact, mode);
    }
}

// The older names. Their integers have a sign and a magnitude, whatever the type says.
template <class T>
    requires(impl_::IS_INT<T> || impl_::IS_SIGNED_MAG<T> || impl_::IS_UNSIGNED<T>)
sfpi_inline vFloat int32_to_float(T const &v, RoundMode mode = RoundMode::Stochastic) {
    return __sfpi_sfpcast(impl_::lanes(v), mode);
}
template <class T>
    requires(impl_::IS_INT<T> || impl_::IS_SIGNED_MAG<T> || impl_::IS_UNSIGNED<T>)
sfpi_inline vFloat int_to_float(T const &v, RoundMode mode = RoundMode::Stochastic) {
    return __sfpi_sfpcast(impl_::lanes(v), mode);
}

#define __SFPI_ROUNDED(type, name, number)                                                  \
    sfpi_inline type name(vFloat v, RoundMode mode = RoundMode::Stochastic) {               \
        return type(__sfpi_sfpstochrnd_i(v.get(), 0, number, mode));                        \
    }
__SFPI_ROUNDED(vUInt, float_to_uint8, 2)
__SFPI_ROUNDED(vInt, float_to_int8, 3)
__SFPI_ROUNDED(vUInt, float_to_uint16, 6)
__SFPI_ROUNDED(vInt, float_to_int16, 7)
#undef __SFPI_ROUNDED

namespace impl_ {

// 003 calls the result a vUInt, the headers of 2026 a vFloat: it becomes either.
struct Rounded : vFloat {
    using vFloat::vFloat;
    sfpi_inline operator vUInt() const { return vUInt(get()); }
};

}  // namespace impl_

sfpi_inline impl_::Rounded float_to_fp16a(vFloat v, RoundMode mode = RoundMode::Stochastic) {
    return __sfpi_sfpstochrnd_i(v.get(), 0, 0, mode);
}
sfpi_inline impl_::Rounded float_to_fp16b(vFloat v, RoundMode mode = RoundMode::Stochastic) {
    return __sfpi_sfpstochrnd_i(v.get(), 0, 1, mode);
}

// An integer is divided by two to the power of `descale`, and rounded.
template <class T, class Descale>
    requires(impl_::IS_WHOLE<T> || impl_::IS_SIGNED_MAG<T>)
sfpi_inline vUInt int32_to_uint8(T const &v, Descale const &descale, RoundMode mode = RoundMode::Stochastic) {
    if constexpr (impl_::Integer<Descale>) return __sfpi_sfpstochrnd_i(impl_::lanes(v), int(descale), 4, mode);
    else return __sfpi_sfpstochrnd_v(impl_::lanes(v), impl_::lanes(descale), 4, mode);
}
template <class T, class Descale>
    requires(impl_::IS_WHOLE<T> || impl_::IS_SIGNED_MAG<T>)
sfpi_inline vInt int32_to_int8(T const &v, Descale const &descale, RoundMode mode = RoundMode::Stochastic) {
    if constexpr (impl_::Integer<Descale>) return __sfpi_sfpstochrnd_i(impl_::lanes(v), int(descale), 5, mode);
    else return __sfpi_sfpstochrnd_v(impl_::lanes(v), impl_::lanes(descale), 5, mode);
}

}  // namespace sfpi

#endif
