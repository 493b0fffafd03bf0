// SPDX-License-Identifier: Apache-2.0
// The operations of a functional unit on 32-bit registers, numbered as in `polyloom.ir.operations`.
// Registers hold narrow integers sign-extended, so that every result is wrapped to its width.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <utility>

namespace polyloom::tcpa {

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
    mod
};

enum class Type : uint8_t { i8, i16, i32, f32 };

constexpr unsigned operation_count = 26;

constexpr Operation operation_of(uint8_t opcode) { return Operation(opcode >> 2); }
constexpr Type type_of(uint8_t opcode) { return Type(opcode & 3); }
constexpr bool compares(Operation o) { return o >= Operation::eq && o <= Operation::ge; }
constexpr bool on_integers_only(Operation o) {
    return (o >= Operation::bit_and && o <= Operation::shr) || o >= Operation::rem;
}

constexpr unsigned arity(Operation o) {
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

constexpr bool valid_opcode(uint8_t opcode) {
    const Operation o = operation_of(opcode);
    if (unsigned(o) >= operation_count) return false;
    if (o == Operation::sqrt) return type_of(opcode) == Type::f32;
    return !on_integers_only(o) || type_of(opcode) != Type::f32;
}

// Sign-extends the low bits of `value` that an element of type `type` keeps.
constexpr uint32_t wrap(Type type, uint32_t value) {
    if (type == Type::i8) return uint32_t(int32_t(int8_t(value)));
    if (type == Type::i16) return uint32_t(int32_t(int16_t(value)));
    return value;
}

[[gnu::always_inline]] inline uint32_t on_floats(Operation o, uint32_t a, uint32_t b, uint32_t c) {
    const float x = std::bit_cast<float>(a), y = std::bit_cast<float>(b), z = std::bit_cast<float>(c);
    const auto bits = [](float v) { return std::bit_cast<uint32_t>(v); };
    switch (o) {
        case Operation::move: return a;
        case Operation::add: return bits(x + y);
        case Operation::sub: return bits(x - y);
        case Operation::mul: return bits(x * y);
        case Operation::div: return bits(x / y);
        case Operation::min: return std::isnan(x) || y < x ? b : a;
        case Operation::max: return std::isnan(x) || y > x ? b : a;
        case Operation::eq: return x == y;
        case Operation::ne: return x != y;
        case Operation::lt: return x < y;
        case Operation::le: return x <= y;
        case Operation::gt: return x > y;
        case Operation::ge: return x >= y;
        case Operation::select: return a ? b : c;
        case Operation::neg: return a ^ 0x80000000u;
        case Operation::abs: return a & 0x7fffffffu;
        case Operation::madd: return bits(std::fma(x, y, z));
        case Operation::sqrt: return bits(std::sqrt(x));
        default: return 0;
    }
}

// The quotient rounded down; in 64 bits, the least number divided by -1 is a number.
constexpr int64_t floor_quotient(int64_t a, int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }

[[gnu::always_inline]] inline uint32_t on_integers(Operation o, Type type, uint32_t a, uint32_t b, uint32_t c) {
    const int32_t x = int32_t(a), y = int32_t(b);
    const uint32_t amount = b & (type == Type::i8 ? 7 : type == Type::i16 ? 15 : 31);
    switch (o) {
        case Operation::move: return wrap(type, a);
        case Operation::add: return wrap(type, a + b);
        case Operation::sub: return wrap(type, a - b);
        case Operation::mul: return wrap(type, a * b);
        case Operation::div: return wrap(type, uint32_t(int64_t(x) / int64_t(y)));
        case Operation::min: return y < x ? b : a;
        case Operation::max: return y > x ? b : a;
        case Operation::bit_and: return a & b;
        case Operation::bit_or: return a | b;
        case Operation::bit_xor: return a ^ b;
        case Operation::shl: return wrap(type, a << amount);
        case Operation::shr: return uint32_t(x >> amount);
        case Operation::eq: return x == y;
        case Operation::ne: return x != y;
        case Operation::lt: return x < y;
        case Operation::le: return x <= y;
        case Operation::gt: return x > y;
        case Operation::ge: return x >= y;
        case Operation::select: return wrap(type, a ? b : c);
        case Operation::neg: return wrap(type, 0u - a);
        case Operation::abs: return wrap(type, x < 0 ? 0u - a : a);
        case Operation::madd: return wrap(type, a * b + c);
        case Operation::sqrt: return 0;
        case Operation::rem: return uint32_t(int64_t(x) % int64_t(y));
        case Operation::floordiv: return wrap(type, uint32_t(floor_quotient(x, y)));
        case Operation::mod: return uint32_t(x - y * floor_quotient(x, y));
    }
    return 0;
}

// Whether an operation faults on a second operand of zero.
constexpr bool divides(uint8_t opcode) {
    const Operation o = operation_of(opcode);
    return type_of(opcode) != Type::f32 &&
           (o == Operation::div || o == Operation::rem || o == Operation::floordiv || o == Operation::mod);
}

using Function = uint32_t (*)(uint32_t, uint32_t, uint32_t);

template <uint8_t Opcode>
uint32_t specialized(uint32_t a, uint32_t b, uint32_t c) {
    constexpr Operation operation = operation_of(Opcode);
    if constexpr (type_of(Opcode) == Type::f32)
        return on_floats(operation, a, b, c);
    else
        return on_integers(operation, type_of(Opcode), a, b, c);
}

template <size_t... Opcode>
constexpr std::array<Function, sizeof...(Opcode)> functions(std::index_sequence<Opcode...>) {
    return {&specialized<uint8_t(Opcode)>...};
}

// The operations with all choices made, by opcode.
inline constexpr auto function_table = functions(std::make_index_sequence<operation_count * 4>{});

// The result of a valid opcode; the divisor of an integer division is not zero.
inline uint32_t execute(uint8_t opcode, uint32_t a, uint32_t b, uint32_t c) { return function_table[opcode](a, b, c); }

}  // namespace polyloom::tcpa
