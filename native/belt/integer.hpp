// SPDX-License-Identifier: Apache-2.0
// Integer arithmetic on one lane, as kernels: total functions on unsigned bits of 8 to 128, for signed numbers as two's
// complement.
#pragma once

#include "kernel.hpp"

namespace polyloom::belt {

template <class U>
struct Widths;
template <>
struct Widths<uint8_t> {
    using Signed = int8_t;
    using Wider = uint16_t;
};
template <>
struct Widths<uint16_t> {
    using Signed = int16_t;
    using Wider = uint32_t;
};
template <>
struct Widths<uint32_t> {
    using Signed = int32_t;
    using Wider = uint64_t;
};
template <>
struct Widths<uint64_t> {
    using Signed = int64_t;
    using Wider = u128;
};
template <>
struct Widths<u128> {
    using Signed = i128;
    using Wider = u128;
};

template <class U>
using Signed = typename Widths<U>::Signed;
template <class U>
using Wider = typename Widths<U>::Wider;
template <class U>
constexpr unsigned bits_of = 8 * sizeof(U);
template <class U>
constexpr U least = U(U(1) << (bits_of<U> - 1));  // of the signed numbers
template <class U>
constexpr U most = U(least<U> - 1);

template <class U>
constexpr bool negative(U a) {
    return a & least<U>;
}
template <class U>
constexpr U magnitude(U a) {
    return negative(a) ? U(U(0) - a) : a;
}
template <class U>
constexpr Wider<U> extended(U a) {
    return Wider<U>(Signed<Wider<U>>(Signed<U>(a)));
}
// Narrow products would be of type int, which overflows.
template <class U>
constexpr U product(U a, U b) {
    return sizeof(U) < 4 ? U(uint32_t(a) * uint32_t(b)) : U(a * b);
}

enum class Sum { add, sub, mul };

template <class U>
constexpr U wrapped(Sum s, U a, U b) {
    return s == Sum::add ? U(a + b) : s == Sum::sub ? U(a - b) : product(a, b);
}

template <class U>
constexpr bool product_overflows(U a, U b) {
    if constexpr (sizeof(U) < 16)
        return (Wider<U>(a) * Wider<U>(b)) >> bits_of<U>;
    else
        return a && product(a, b) / a != b;
}

// The result is beyond the unsigned numbers.
template <class U>
constexpr bool overflows_unsigned(Sum s, U a, U b) {
    if (s == Sum::add) return U(a + b) < a;
    if (s == Sum::sub) return a < b;
    return product_overflows(a, b);
}

// The sign of an exact result, and whether it is beyond the signed numbers.
template <class U>
constexpr bool exact_negative(Sum s, U a, U b) {
    if (s == Sum::mul) return a && b && negative(a) != negative(b);
    // Where a and the addend, b or ~b, have one sign, so has the result; elsewhere nothing overflows.
    return negative(a) == (negative(b) == (s == Sum::add)) ? negative(a) : negative(wrapped(s, a, b));
}
template <class U>
constexpr bool overflows_signed(Sum s, U a, U b) {
    if (s != Sum::mul) return negative(wrapped(s, a, b)) != exact_negative(s, a, b);
    const U x = magnitude(a), y = magnitude(b);
    return product_overflows(x, y) || product(x, y) > U(most<U> + exact_negative(s, a, b));
}

template <Sum S>
constexpr auto wrap = []<class U>(U a, U b) { return wrapped(S, a, b); };
template <Sum S>
constexpr auto saturate_signed = []<class U>(U a, U b) {
    if (!overflows_signed(S, a, b)) return wrapped(S, a, b);
    return exact_negative(S, a, b) ? least<U> : most<U>;
};
template <Sum S>
constexpr auto saturate_unsigned = []<class U>(U a, U b) {
    if (!overflows_unsigned(S, a, b)) return wrapped(S, a, b);
    return S == Sum::sub ? U(0) : U(~U(0));
};
template <Sum S>
constexpr auto except_signed = []<class U>(U a, U b, bool& nar) {
    nar = overflows_signed(S, a, b);
    return wrapped(S, a, b);
};
template <Sum S>
constexpr auto except_unsigned = []<class U>(U a, U b, bool& nar) {
    nar = overflows_unsigned(S, a, b);
    return wrapped(S, a, b);
};
template <Sum S>
constexpr auto widen_signed = []<class U>(U a, U b) { return wrapped(S, extended(a), extended(b)); };
template <Sum S>
constexpr auto widen_unsigned = []<class U>(U a, U b) { return wrapped(S, Wider<U>(a), Wider<U>(b)); };

// Of the mode's number in the order of the table: "", ss, us, sx, ux, sw, uw.
template <Sum S>
constexpr std::array<Kernels, 7> family = {binary<wrap<S>>,
                                           binary<saturate_signed<S>>,
                                           binary<saturate_unsigned<S>>,
                                           binary<except_signed<S>>,
                                           binary<except_unsigned<S>>,
                                           widening<widen_signed<S>>,
                                           widening<widen_unsigned<S>>};

template <class U>
constexpr bool less_signed(U a, U b) {
    return U(a ^ least<U>) < U(b ^ least<U>);
}

constexpr auto bit_and = []<class U>(U a, U b) { return U(a & b); };
constexpr auto bit_or = []<class U>(U a, U b) { return U(a | b); };
constexpr auto bit_xor = []<class U>(U a, U b) { return U(a ^ b); };
constexpr auto bit_andn = []<class U>(U a, U b) { return U(a & ~b); };
constexpr auto eql = []<class U>(U a, U b) { return uint8_t(a == b); };
constexpr auto neq = []<class U>(U a, U b) { return uint8_t(a != b); };
constexpr auto lsss = []<class U>(U a, U b) { return uint8_t(less_signed(a, b)); };
constexpr auto leqs = []<class U>(U a, U b) { return uint8_t(!less_signed(b, a)); };
constexpr auto gtrs = []<class U>(U a, U b) { return uint8_t(less_signed(b, a)); };
constexpr auto geqs = []<class U>(U a, U b) { return uint8_t(!less_signed(a, b)); };
constexpr auto lssu = []<class U>(U a, U b) { return uint8_t(a < b); };
constexpr auto lequ = []<class U>(U a, U b) { return uint8_t(a <= b); };
constexpr auto gtru = []<class U>(U a, U b) { return uint8_t(a > b); };
constexpr auto gequ = []<class U>(U a, U b) { return uint8_t(a >= b); };
constexpr auto mins = []<class U>(U a, U b) { return less_signed(b, a) ? b : a; };
constexpr auto maxs = []<class U>(U a, U b) { return less_signed(a, b) ? b : a; };
constexpr auto minu = []<class U>(U a, U b) { return b < a ? b : a; };
constexpr auto maxu = []<class U>(U a, U b) { return a < b ? b : a; };
constexpr auto absolute = []<class U>(U a) { return magnitude(a); };
constexpr auto invert = []<class U>(U a) { return U(~a); };

template <class U>
constexpr unsigned ones(U a) {
    const int high = sizeof(U) > 8 ? __builtin_popcountll(uint64_t(u128(a) >> 64)) : 0;
    return unsigned(__builtin_popcountll(uint64_t(a)) + high);
}
constexpr auto leading = []<class U>(U a) {
    unsigned count = 0;
    for (U bit = least<U>; bit && !(a & bit); bit = U(bit >> 1)) ++count;
    return U(count);
};
constexpr auto trailing = []<class U>(U a) { return U(ones(U(~a & U(a - 1)))); };
constexpr auto population = []<class U>(U a) { return U(ones(a)); };
constexpr auto swapped = []<class U>(U a) {
    uint8_t bytes[sizeof(U)], reversed[sizeof(U)];
    std::memcpy(bytes, &a, sizeof a);
    for (size_t k = 0; k < sizeof a; ++k) reversed[k] = bytes[sizeof a - 1 - k];
    std::memcpy(&a, reversed, sizeof a);
    return a;
};

template <class U>
constexpr unsigned modulo(uint8_t amount) {
    return amount & (bits_of<U> - 1);
}
constexpr auto shl = []<class U>(U a, uint8_t n) { return U(a << modulo<U>(n)); };
constexpr auto shru = []<class U>(U a, uint8_t n) { return U(a >> modulo<U>(n)); };
constexpr auto shrs = []<class U>(U a, uint8_t n) { return U(Signed<U>(a) >> modulo<U>(n)); };
constexpr auto rotl = []<class U>(U a, uint8_t n) {
    const unsigned by = modulo<U>(n);
    return by ? U(U(a << by) | U(a >> (bits_of<U> - by))) : a;
};

constexpr auto muladd = []<class U>(U a, U b, U c) { return U(product(a, b) + c); };
constexpr auto shladd = []<class U>(U a, U b, uint8_t n) { return U(U(a << modulo<U>(n)) + b); };
constexpr auto shrsadd = []<class U>(U a, U b, uint8_t n) { return U(U(Signed<U>(a) >> modulo<U>(n)) + b); };
template <class U>
constexpr Kernel muladd_of = &lanewise<U, muladd, U, U, U>;
template <class U>
constexpr Kernel shladd_of = &lanewise<U, shladd, U, U, uint8_t>;
template <class U>
constexpr Kernel shrsadd_of = &lanewise<U, shrsadd, U, U, uint8_t>;

// The least number divided by -1 wraps to itself.
constexpr auto divu = []<class U>(U a, U b, bool& nar) { return (nar = !b) ? U(0) : U(a / b); };
constexpr auto remu = []<class U>(U a, U b, bool& nar) { return (nar = !b) ? U(0) : U(a % b); };
constexpr auto divs = []<class U>(U a, U b, bool& nar) {
    if ((nar = !b)) return U(0);
    const U quotient = U(magnitude(a) / magnitude(b));
    return negative(a) != negative(b) ? U(U(0) - quotient) : quotient;
};
constexpr auto rems = []<class U>(U a, U b, bool& nar) {
    if ((nar = !b)) return U(0);
    const U rest = U(magnitude(a) % magnitude(b));
    return negative(a) ? U(U(0) - rest) : rest;
};

}  // namespace polyloom::belt
