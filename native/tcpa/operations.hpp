// SPDX-License-Identifier: Apache-2.0
// The operations of a functional unit on words, numbered as in `polyloom.ir.operations`.
// A word has 64 bits: signed integers are sign-extended, other integers, bool and f32 zero-extended. Every result is
// again such a word of its type.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

namespace polyloom::tcpa {

using Word = uint64_t;

enum class Operation : uint8_t {
    move,
    add,
    sub,
    mul,
    div,
    min,
    max,
    bit_and,
    bit_or,
    bit_xor,
    shl,
    shr,
    eq,
    ne,
    lt,
    le,
    gt,
    ge,
    select,
    neg,
    abs,
    madd,
    sqrt,
    rem,
    floordiv,
    mod,
    to_i8,
    to_i16,
    to_i32,
    to_u8,
    to_u16,
    to_u32,
    to_bool,
    to_f32,
    to_f64,
    to_f16,
    round_i32,
    sat8,
    satu8,
    bits_i32,
    bits_f32
};

enum class Type : uint8_t { i8, i16, i32, f32, u8, u16, u32, boolean, f64 };

constexpr unsigned operation_count = 41, type_count = 9;
// An opcode is an operation's number, and a type's number in its low four bits.
constexpr uint16_t opcode_count = 1024;

constexpr Operation operation_of(uint16_t opcode) { return Operation(opcode >> 4); }
constexpr Type type_of(uint16_t opcode) { return Type(opcode & 15); }
constexpr uint16_t opcode_of(Operation o, Type t) { return uint16_t(unsigned(o) << 4 | unsigned(t)); }
constexpr bool is_float(Type t) { return t == Type::f32 || t == Type::f64; }
constexpr bool is_integer(Type t) { return !is_float(t) && t != Type::boolean; }
constexpr bool compares(Operation o) { return o >= Operation::eq && o <= Operation::ge; }

constexpr unsigned arity(Operation o) {
    if (o >= Operation::to_i8) return 1;
    switch (o) {
        case Operation::move:
        case Operation::neg:
        case Operation::abs:
        case Operation::sqrt: return 1;
        case Operation::select:
        case Operation::madd: return 3;
        default: return 2;
    }
}

// The type of an operation's result where the (last) operand has type `t`; no valid opcode has a result of type f16.
constexpr Type result_of(Operation o, Type t) {
    if (compares(o)) return Type::i32;
    switch (o) {
        case Operation::to_i8:
        case Operation::sat8: return Type::i8;
        case Operation::to_i16: return Type::i16;
        case Operation::to_i32:
        case Operation::round_i32:
        case Operation::bits_i32: return Type::i32;
        case Operation::to_u8:
        case Operation::satu8: return Type::u8;
        case Operation::to_u16: return Type::u16;
        case Operation::to_u32: return Type::u32;
        case Operation::to_bool: return Type::boolean;
        case Operation::to_f32:
        case Operation::bits_f32: return Type::f32;
        case Operation::to_f64: return Type::f64;
        default: return t;
    }
}

constexpr bool valid_opcode(uint16_t opcode) {
    const Operation o = operation_of(opcode);
    const Type t = type_of(opcode);
    if (unsigned(o) >= operation_count || unsigned(t) >= type_count) return false;
    switch (o) {
        case Operation::move:
        case Operation::eq:
        case Operation::ne:
        case Operation::select: return true;
        case Operation::bit_and:
        case Operation::bit_or:
        case Operation::bit_xor: return !is_float(t);
        case Operation::shl:
        case Operation::shr:
        case Operation::rem:
        case Operation::floordiv:
        case Operation::mod: return is_integer(t);
        case Operation::sqrt:
        case Operation::round_i32: return is_float(t);
        case Operation::to_f16: return false;
        case Operation::sat8:
        case Operation::satu8:
        case Operation::bits_f32: return t == Type::i32;
        case Operation::bits_i32: return t == Type::f32;
        default: return o >= Operation::to_i8 ? result_of(o, t) != t : t != Type::boolean;
    }
}

constexpr unsigned bytes_of(Type t) {
    switch (t) {
        case Type::i8:
        case Type::u8:
        case Type::boolean: return 1;
        case Type::i16:
        case Type::u16: return 2;
        case Type::f64: return 8;
        default: return 4;
    }
}

// Bytes of an immediate that is source `n`.
constexpr unsigned immediate_bytes(uint16_t opcode, unsigned n) {
    const bool is_condition = operation_of(opcode) == Operation::select && n == 0;
    return type_of(opcode) == Type::f64 && !is_condition ? 8 : 4;
}

template <Type t>
struct Stored {
    using type = int32_t;
};
template <>
struct Stored<Type::i8> {
    using type = int8_t;
};
template <>
struct Stored<Type::i16> {
    using type = int16_t;
};
template <>
struct Stored<Type::f32> {
    using type = float;
};
template <>
struct Stored<Type::u8> {
    using type = uint8_t;
};
template <>
struct Stored<Type::u16> {
    using type = uint16_t;
};
template <>
struct Stored<Type::u32> {
    using type = uint32_t;
};
template <>
struct Stored<Type::boolean> {
    using type = bool;
};
template <>
struct Stored<Type::f64> {
    using type = double;
};

template <class T>
constexpr T element(Word word) {
    if constexpr (std::is_same_v<T, float>)
        return std::bit_cast<float>(uint32_t(word));
    else if constexpr (std::is_same_v<T, double>)
        return std::bit_cast<double>(word);
    else
        return T(word);
}

template <class T>
constexpr Word word(T value) {
    if constexpr (std::is_same_v<T, float>)
        return std::bit_cast<uint32_t>(value);
    else if constexpr (std::is_same_v<T, double>)
        return std::bit_cast<uint64_t>(value);
    else
        return Word(int64_t(value));
}

// Toward zero, saturated; the greatest number for a NaN.
template <class T>
constexpr T truncated(double value) {
    using Limits = std::numeric_limits<T>;
    if (value != value || value >= double(Limits::max()) + 1) return Limits::max();
    return value <= double(Limits::min()) - 1 ? Limits::min() : T(value);
}

// Conversion to `R`; floats beyond its range saturate, NaN is 0, integers wrap.
template <class R, class T>
constexpr Word converted(T value) {
    if constexpr (std::is_floating_point_v<T> && std::is_integral_v<R> && !std::is_same_v<R, bool>)
        return value != value ? Word(0) : word(truncated<R>(value));
    else
        return word(R(value));
}

template <class T>
inline Word converted_to(Operation o, T value) {
    switch (o) {
        case Operation::to_i8: return converted<int8_t>(value);
        case Operation::to_i16: return converted<int16_t>(value);
        case Operation::to_i32: return converted<int32_t>(value);
        case Operation::to_u8: return converted<uint8_t>(value);
        case Operation::to_u16: return converted<uint16_t>(value);
        case Operation::to_u32: return converted<uint32_t>(value);
        case Operation::to_bool: return value != T(0);
        case Operation::to_f32: return converted<float>(value);
        case Operation::to_f64: return converted<double>(value);
        case Operation::round_i32: return word(truncated<int32_t>(std::nearbyint(double(value))));
        case Operation::sat8: return word(int8_t(std::clamp<int64_t>(int64_t(value), -128, 127)));
        case Operation::satu8: return word(uint8_t(std::clamp<int64_t>(int64_t(value), 0, 255)));
        default: return 0;
    }
}

template <class T>
[[gnu::always_inline]] inline Word on_floats(Operation o, Word a, Word b, Word c) {
    const T x = element<T>(a), y = element<T>(b), z = element<T>(c);
    constexpr Word sign = Word(1) << (8 * sizeof(T) - 1);
    switch (o) {
        case Operation::move: return a;
        case Operation::add: return word(x + y);
        case Operation::sub: return word(x - y);
        case Operation::mul: return word(x * y);
        case Operation::div: return word(x / y);
        case Operation::min: return std::isnan(x) || y < x ? b : a;
        case Operation::max: return std::isnan(x) || y > x ? b : a;
        case Operation::eq: return x == y;
        case Operation::ne: return x != y;
        case Operation::lt: return x < y;
        case Operation::le: return x <= y;
        case Operation::gt: return x > y;
        case Operation::ge: return x >= y;
        case Operation::select: return a ? b : c;
        case Operation::neg: return a ^ sign;
        case Operation::abs: return a & ~sign;
        case Operation::madd: return word(std::fma(x, y, z));
        case Operation::sqrt: return word(std::sqrt(x));
        case Operation::bits_i32: return word(int32_t(uint32_t(a)));
        default: return converted_to(o, x);
    }
}

// The quotient rounded down; in 64 bits, the least number divided by -1 is a number.
constexpr int64_t floor_quotient(int64_t a, int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }

// Integers and bool; as words of 64 bits with a sign, all of them are themselves.
template <class T>
[[gnu::always_inline]] inline Word on_integers(Operation o, Word a, Word b, Word c) {
    const int64_t x = int64_t(a), y = int64_t(b);
    const Word amount = b & (8 * sizeof(T) - 1);
    switch (o) {
        case Operation::move: return word(T(a));
        case Operation::add: return word(T(a + b));
        case Operation::sub: return word(T(a - b));
        case Operation::mul: return word(T(a * b));
        case Operation::div: return word(T(x / y));
        case Operation::min: return y < x ? b : a;
        case Operation::max: return y > x ? b : a;
        case Operation::bit_and: return a & b;
        case Operation::bit_or: return a | b;
        case Operation::bit_xor: return a ^ b;
        case Operation::shl: return word(T(a << amount));
        case Operation::shr: return Word(x >> amount);
        case Operation::eq: return x == y;
        case Operation::ne: return x != y;
        case Operation::lt: return x < y;
        case Operation::le: return x <= y;
        case Operation::gt: return x > y;
        case Operation::ge: return x >= y;
        case Operation::select: return word(T(a ? b : c));
        case Operation::neg: return word(T(0 - a));
        case Operation::abs: return word(T(x < 0 ? 0 - a : a));
        case Operation::madd: return word(T(a * b + c));
        case Operation::sqrt: return 0;
        case Operation::rem: return word(T(x % y));
        case Operation::floordiv: return word(T(floor_quotient(x, y)));
        case Operation::mod: return word(T(x - y * floor_quotient(x, y)));
        case Operation::bits_f32: return uint32_t(a);
        default: return converted_to(o, T(a));
    }
}

// Whether an operation faults on a second operand of zero.
constexpr bool divides(uint16_t opcode) {
    const Operation o = operation_of(opcode);
    return is_integer(type_of(opcode)) &&
           (o == Operation::div || o == Operation::rem || o == Operation::floordiv || o == Operation::mod);
}

using Function = Word (*)(Word, Word, Word);

template <uint16_t Opcode>
Word specialized(Word a, Word b, Word c) {
    using T = typename Stored<type_of(Opcode)>::type;
    if constexpr (std::is_floating_point_v<T>)
        return on_floats<T>(operation_of(Opcode), a, b, c);
    else
        return on_integers<T>(operation_of(Opcode), a, b, c);
}

template <uint16_t Opcode>
constexpr Function function_of() {
    if constexpr (valid_opcode(Opcode))
        return &specialized<Opcode>;
    else
        return nullptr;
}

template <size_t... Opcode>
constexpr std::array<Function, sizeof...(Opcode)> functions(std::index_sequence<Opcode...>) {
    return {function_of<uint16_t(Opcode)>()...};
}

// The operations with all choices made, by opcode.
inline constexpr auto function_table = functions(std::make_index_sequence<operation_count * 16>{});

// The result of a valid opcode; the divisor of an integer division is not zero.
inline Word execute(uint16_t opcode, Word a, Word b, Word c) { return function_table[opcode](a, b, c); }

// The word of an immediate's bits, as source `n` of an instruction.
inline Word immediate_word(uint16_t opcode, unsigned n, uint64_t bits) {
    const bool is_condition = operation_of(opcode) == Operation::select && n == 0;
    switch (is_condition ? Type::i32 : type_of(opcode)) {
        case Type::i8:
        case Type::i16:
        case Type::i32: return word(int32_t(uint32_t(bits)));
        default: return bits;
    }
}

}  // namespace polyloom::tcpa
