// SPDX-License-Identifier: Apache-2.0
// The vector types: 32 lanes of 32 bits, and what the bits mean. A declaration without a value has no defined lane; an
// assignment changes enabled lanes only, an initialization all of them.
#ifndef POLYLOOM_SFPI_VECTORS_H
#define POLYLOOM_SFPI_VECTORS_H

namespace sfpi {

class vFloat;
class vInt;
class vUInt;
class vMag;
class vSMag;
class vBool;

namespace impl_ {

using sfpu_t = __sfpi_v;

template <class T>
concept Integer = std::is_integral_v<T> || std::is_enum_v<T>;
template <class T>
concept Scalar = std::is_arithmetic_v<T> || std::is_enum_v<T>;
template <class T, class Base>
concept Derived = std::is_base_of_v<Base, T>;

sfpi_inline constexpr int bits_of(float value) { return __builtin_bit_cast(int, value); }

class vVal {
    sfpu_t v = __sfpi_undefined();

public:
    vVal() = default;
    vVal(vVal const &) = default;
    sfpi_inline vVal(sfpu_t value) : v(value) {}
    sfpi_inline vVal &operator=(vVal const &other) {
        v = __sfpi_assign(v, other.v);
        return *this;
    }
    sfpi_inline sfpu_t get() const { return v; }
};

}  // namespace impl_

template <class T>
concept Vector = std::is_base_of_v<impl_::vVal, T>;

// 16-bit floating-point numbers of a program: an integer is a bit pattern, a number is rounded toward zero.
class sFloat16a {
    std::uint32_t bits;

    // Exponents of 5 bits; what is below them becomes zero, what is above the greatest finite number.
    static sfpi_inline constexpr std::uint32_t rounded(float value) {
        std::uint32_t const word = __builtin_bit_cast(std::uint32_t, value);
        std::int32_t const exponent = std::int32_t((word >> 23) & 255u) - 112;
        std::uint32_t const sign = (word >> 16) & 0x8000u;
        return exponent < 0    ? sign
               : exponent > 31 ? sign | 0x7FFFu
                               : sign | (std::uint32_t(exponent) << 10) | ((word >> 13) & 0x3FFu);
    }

public:
    template <impl_::Integer T>
    sfpi_inline constexpr explicit sFloat16a(T pattern) : bits(std::uint32_t(pattern) & 0xFFFFu) {}
    sfpi_inline constexpr explicit sFloat16a(float value) : bits(rounded(value)) {}
    sfpi_inline constexpr explicit sFloat16a(double value) : bits(rounded(float(value))) {}
    sfpi_inline constexpr std::uint32_t get() const { return bits; }
    // As the instruction widens it: the exponent is moved, and nothing else looked at.
    sfpi_inline constexpr int word() const {
        return int(((bits & 0x8000u) << 16) | (((bits & 0x7FFFu) << 13) + (112u << 23)));
    }
};

class sFloat16b {
    std::uint32_t bits;

public:
    template <impl_::Integer T>
    sfpi_inline constexpr explicit sFloat16b(T pattern) : bits(std::uint32_t(pattern) & 0xFFFFu) {}
    sfpi_inline constexpr explicit sFloat16b(float value) : bits(__builtin_bit_cast(std::uint32_t, value) >> 16) {}
    sfpi_inline constexpr explicit sFloat16b(double value) : sFloat16b(float(value)) {}
    sfpi_inline constexpr std::uint32_t get() const { return bits; }
    sfpi_inline constexpr int word() const { return int(bits << 16); }
};

using s2vFloat16a = sFloat16a;
using s2vFloat16b = sFloat16b;

class vFloat : public impl_::vVal {
public:
    vFloat() = default;
    vFloat(vFloat const &) = default;
    vFloat &operator=(vFloat const &) = default;
    sfpi_inline vFloat(impl_::sfpu_t value) : vVal(value) {}
    sfpi_inline vFloat(sFloat16a value) : vVal(__sfpi_splat(value.word())) {}
    sfpi_inline vFloat(sFloat16b value) : vVal(__sfpi_splat(value.word())) {}
    template <impl_::Scalar T>
    sfpi_inline vFloat(T value) : vVal(__sfpi_splat(impl_::bits_of(float(value)))) {}

    template <class T>
    sfpi_inline vFloat &operator+=(T const &other) {
        return *this = *this + other;
    }
    template <class T>
    sfpi_inline vFloat &operator-=(T const &other) {
        return *this = *this - other;
    }
    template <class T>
    sfpi_inline vFloat &operator*=(T const &other) {
        return *this = *this * other;
    }
    template <class T>
    sfpi_inline vFloat &operator/=(T const &other) {
        return *this = *this / other;
    }
    sfpi_inline vFloat &operator++() { return *this += 1.0f; }
    sfpi_inline vFloat &operator--() { return *this -= 1.0f; }
    sfpi_inline vFloat operator++(int) {
        vFloat before = *this;
        *this += 1.0f;
        return before;
    }
    sfpi_inline vFloat operator--(int) {
        vFloat before = *this;
        *this -= 1.0f;
        return before;
    }
};

// The operators that assign are the same for integers of both signs.
#define __SFPI_ASSIGNING(type)                                      \
    template <class T>                                              \
    sfpi_inline type &operator+=(T const &other) {                  \
        return *this = *this + other;                               \
    }                                                               \
    template <class T>                                              \
    sfpi_inline type &operator-=(T const &other) {                  \
        return *this = *this - other;                               \
    }                                                               \
    template <class T>                                              \
    sfpi_inline type &operator*=(T const &other) {                  \
        return *this = *this * other;                               \
    }                                                               \
    template <class T>                                              \
    sfpi_inline type &operator&=(T const &other) {                  \
        return *this = *this & other;                               \
    }                                                               \
    template <class T>                                              \
    sfpi_inline type &operator|=(T const &other) {                  \
        return *this = *this | other;                               \
    }                                                               \
    template <class T>                                              \
    sfpi_inline type &operator^=(T const &other) {                  \
        return *this = *this ^ other;                               \
    }                                                               \
    template <class T>                                              \
    sfpi_inline type &operator<<=(T const &amount) {                \
        return *this = *this << amount;                             \
    }                                                               \
    template <class T>                                              \
    sfpi_inline type &operator>>=(T const &amount) {                \
        return *this = *this >> amount;                             \
    }                                                               \
    sfpi_inline type &operator++() { return *this += 1; }           \
    sfpi_inline type &operator--() { return *this -= 1; }           \
    sfpi_inline type operator++(int) {                              \
        type before = *this;                                        \
        *this += 1;                                                 \
        return before;                                              \
    }                                                               \
    sfpi_inline type operator--(int) {                              \
        type before = *this;                                        \
        *this -= 1;                                                 \
        return before;                                              \
    }

class vInt : public impl_::vVal {
public:
    vInt() = default;
    vInt(vInt const &) = default;
    vInt &operator=(vInt const &) = default;
    sfpi_inline vInt(impl_::sfpu_t value) : vVal(value) {}
    template <impl_::Scalar T>
    sfpi_inline vInt(T value) : vVal(__sfpi_splat(int(value))) {}
    template <impl_::Derived<vUInt> T>
    sfpi_inline vInt(T const &value) : vVal(value.get()) {}
    __SFPI_ASSIGNING(vInt)
};

class vUInt : public impl_::vVal {
public:
    vUInt() = default;
    vUInt(vUInt const &) = default;
    vUInt &operator=(vUInt const &) = default;
    sfpi_inline vUInt(impl_::sfpu_t value) : vVal(value) {}
    template <impl_::Scalar T>
    sfpi_inline vUInt(T value) : vVal(__sfpi_splat(int(value))) {}
    template <impl_::Derived<vInt> T>
    sfpi_inline vUInt(T const &value) : vVal(value.get()) {}
    __SFPI_ASSIGNING(vUInt)
};

#undef __SFPI_ASSIGNING

class vSMag : public impl_::vVal {
public:
    vSMag() = default;
    vSMag(vSMag const &) = default;
    vSMag &operator=(vSMag const &) = default;
    sfpi_inline explicit vSMag(impl_::sfpu_t value) : vVal(value) {}
    template <impl_::Integer T>
    sfpi_inline explicit vSMag(T pattern) : vVal(__sfpi_splat(int(pattern))) {}
};

// Narrower kinds: the bits of the wider one, and a promise of what they hold.
#define __SFPI_NARROW(name, wider)                                               \
    class name : public wider {                                                  \
    public:                                                                      \
        name() = default;                                                        \
        name(name const &) = default;                                            \
        name &operator=(name const &) = default;                                 \
        sfpi_inline explicit name(impl_::sfpu_t value) : wider(value) {}         \
        template <Vector T>                                                      \
            requires(std::is_base_of_v<T, name> && !std::is_same_v<T, name>)     \
        sfpi_inline explicit name(T const &value) : wider(value.get()) {}        \
        template <impl_::Scalar T>                                               \
        sfpi_inline explicit name(T value) : wider(value) {}                     \
    }

__SFPI_NARROW(vFloat16a, vFloat);
__SFPI_NARROW(vFloat16b, vFloat);
__SFPI_NARROW(vMag, vUInt);
__SFPI_NARROW(vUInt16, vMag);
__SFPI_NARROW(vUInt8, vUInt16);
__SFPI_NARROW(vSMag16, vSMag);
__SFPI_NARROW(vSMag8, vSMag16);

#undef __SFPI_NARROW

// The bits of a vector as those of another type.
template <Vector T, Vector From>
sfpi_inline T as(From const &value) {
    return T(value.get());
}
template <Vector T, class From>
    requires(!Vector<From>)
sfpi_inline T as(From const &value);
template <Vector T, class From>
sfpi_inline T reinterpret(From const &value) {
    return as<T>(value);
}

}  // namespace sfpi

#endif
