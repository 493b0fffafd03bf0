// SPDX-License-Identifier: Apache-2.0
// IEEE 754 arithmetic on one lane of 32 or 64 bits, as kernels: round to nearest even, every NaN that is computed is
// the canonical one. Bits are moved as they are by negf, absf and copysignf, as the standard has it (5.5.1).
#pragma once

#include <bit>
#include <cmath>
#include <limits>

#include "kernel.hpp"

namespace polyloom::belt {

template <class U>
using Float = std::conditional_t<sizeof(U) == 4, float, double>;
template <class U>
constexpr U sign_bit = U(1) << (8 * sizeof(U) - 1);

template <class U>
Float<U> float_of(U bits) {
    return std::bit_cast<Float<U>>(bits);
}
template <class F>
auto bits_of_float(F value) {
    using U = std::conditional_t<sizeof(F) == 4, uint32_t, uint64_t>;
    return std::bit_cast<U>(value != value ? std::numeric_limits<F>::quiet_NaN() : value);
}

constexpr auto addf = []<class U>(U a, U b) { return bits_of_float(float_of(a) + float_of(b)); };
constexpr auto subf = []<class U>(U a, U b) { return bits_of_float(float_of(a) - float_of(b)); };
constexpr auto mulf = []<class U>(U a, U b) { return bits_of_float(float_of(a) * float_of(b)); };
constexpr auto divf = []<class U>(U a, U b) { return bits_of_float(float_of(a) / float_of(b)); };
constexpr auto fmaf_ = []<class U>(U a, U b, U c) {
    return bits_of_float(std::fma(float_of(a), float_of(b), float_of(c)));
};
constexpr auto sqrtf_ = []<class U>(U a) { return bits_of_float(std::sqrt(float_of(a))); };

// minimumNumber and maximumNumber (9.6): a number where one operand is, and -0 is less than +0.
template <class U>
U smaller(U a, U b) {
    const auto x = float_of(a), y = float_of(b);
    if (x != x) return bits_of_float(y);
    if (y != y) return a;
    return x < y || (x == y && (a & sign_bit<U>)) ? a : b;
}
template <class U>
U larger(U a, U b) {
    const auto x = float_of(a), y = float_of(b);
    if (x != x) return bits_of_float(y);
    if (y != y) return a;
    return x > y || (x == y && !(a & sign_bit<U>)) ? a : b;
}
constexpr auto minf = []<class U>(U a, U b) { return smaller(a, b); };
constexpr auto maxf = []<class U>(U a, U b) { return larger(a, b); };

constexpr auto negf = []<class U>(U a) { return U(a ^ sign_bit<U>); };
constexpr auto absf = []<class U>(U a) { return U(a & ~sign_bit<U>); };
constexpr auto copysignf_ = []<class U>(U a, U b) { return U((a & ~sign_bit<U>) | (b & sign_bit<U>)); };

constexpr auto eqlf = []<class U>(U a, U b) { return uint8_t(float_of(a) == float_of(b)); };
constexpr auto neqf = []<class U>(U a, U b) { return uint8_t(float_of(a) != float_of(b)); };
constexpr auto lssf = []<class U>(U a, U b) { return uint8_t(float_of(a) < float_of(b)); };
constexpr auto leqf = []<class U>(U a, U b) { return uint8_t(float_of(a) <= float_of(b)); };
constexpr auto gtrf = []<class U>(U a, U b) { return uint8_t(float_of(a) > float_of(b)); };
constexpr auto geqf = []<class U>(U a, U b) { return uint8_t(float_of(a) >= float_of(b)); };
constexpr auto unof = []<class U>(U a, U b) { return uint8_t(std::isunordered(float_of(a), float_of(b))); };

template <auto F>
constexpr Kernels float_unary = {nullptr, nullptr, &lanewise<uint32_t, F, uint32_t>, &lanewise<uint64_t, F, uint64_t>,
                                 nullptr};
template <auto F>
constexpr Kernels float_binary = {nullptr, nullptr, &lanewise<uint32_t, F, uint32_t, uint32_t>,
                                  &lanewise<uint64_t, F, uint64_t, uint64_t>, nullptr};
template <auto F>
constexpr Kernels float_ternary = {nullptr, nullptr, &lanewise<uint32_t, F, uint32_t, uint32_t, uint32_t>,
                                   &lanewise<uint64_t, F, uint64_t, uint64_t, uint64_t>, nullptr};

// A float truncated to an integer of `bits`; false where it is none of them.
inline bool truncated(double value, bool is_signed, unsigned bits, u128& result) {
    if (!(std::abs(value) < 0x1p128)) return false;
    const u128 size = u128(std::abs(value));
    const bool below = value < 0;
    const u128 top = is_signed ? u128(1) << (bits - 1) : 0;
    const u128 limit = is_signed ? top - !below : bits == 128 ? ~u128(0) : (u128(1) << bits) - 1;
    if (size > (!is_signed && below ? 0 : limit)) return false;
    result = below ? u128(0) - size : size;
    return true;
}

}  // namespace polyloom::belt
