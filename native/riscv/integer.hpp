// SPDX-License-Identifier: Apache-2.0
// What the integer instructions do. Source: The RISC-V Instruction Set Manual, Volume I, version 20250508.
#pragma once

#include <bit>
#include <type_traits>

#include "hart.hpp"
#include "table.hpp"

namespace polyloom::riscv {

__extension__ using i128 = __int128;

template <class X>
using Handlers = std::array<Handler<X>, size_t(Op::COUNT)>;

template <class X>
const Decoded<X>* next(const Decoded<X>* d) {
    return d + d->size;
}

// rd = F(rs1, rs2)
template <class X, auto F>
const Decoded<X>* binary(Hart<X>& h, const Decoded<X>* d) {
    h.x[d->rd] = F(h.x[d->rs1], h.x[d->rs2]);
    return next(d);
}

// rd = F(rs1, imm)
template <class X, auto F>
const Decoded<X>* immediate(Hart<X>& h, const Decoded<X>* d) {
    h.x[d->rd] = F(h.x[d->rs1], X(d->imm));
    return next(d);
}

template <class X, auto F>
const Decoded<X>* unary(Hart<X>& h, const Decoded<X>* d) {
    h.x[d->rd] = F(h.x[d->rs1]);
    return next(d);
}

template <class X, auto F>
const Decoded<X>* branch(Hart<X>& h, const Decoded<X>* d) {
    return F(h.x[d->rs1], h.x[d->rs2]) ? d->target : next(d);
}

template <class X, class T>
const Decoded<X>* load(Hart<X>& h, const Decoded<X>* d) {
    h.x[d->rd] = X(std::conditional_t<std::is_signed_v<T>, std::make_signed_t<X>, X>(h.template load<T>(h.x[d->rs1] + X(d->imm))));
    return next(d);
}

template <class X, class T>
const Decoded<X>* store(Hart<X>& h, const Decoded<X>* d) {
    h.template store<T>(h.x[d->rs1] + X(d->imm), T(h.x[d->rs2]));
    return next(d);
}

// lui, and auipc, whose sum is known when it is decoded.
template <class X>
const Decoded<X>* constant(Hart<X>& h, const Decoded<X>* d) {
    h.x[d->rd] = X(d->imm);
    return next(d);
}

// `imm` is the address that it links.
template <class X>
const Decoded<X>* jump(Hart<X>& h, const Decoded<X>* d) {
    h.x[d->rd] = X(d->imm);
    return d->target;
}

template <class X>
const Decoded<X>* jump_register(Hart<X>& h, const Decoded<X>* d) {
    const X to = (h.x[d->rs1] + X(d->imm)) & ~X(1);
    h.x[d->rd] = h.pc_of(d) + 2 * d->size;
    return h.at(to);
}

template <class X>
const Decoded<X>* nothing(Hart<X>&, const Decoded<X>* d) {
    return next(d);
}

template <class X>
const Decoded<X>* fence_i(Hart<X>& h, const Decoded<X>* d) {
    const X after = h.pc_of(d) + 2 * d->size;
    h.flush();
    return h.at(after);
}

// The calls of Linux that a static program needs to end and to print.
template <class X>
const Decoded<X>* environment_call(Hart<X>& h, const Decoded<X>* d) {
    const X number = h.x[17];
    if (number == 93 || number == 94) throw Trap{Cause::exit, h.x[10] & 0xff};
    if (number != 64) throw Trap{Cause::call, number};
    const X file = h.x[10], address = h.x[11], length = h.x[12];
    constexpr X BAD_FILE = X(-9), BAD_ADDRESS = X(-14);
    if (file != 1 && file != 2) {
        h.x[10] = BAD_FILE;
    } else if (!h.memory.holds(address, length)) {
        h.x[10] = BAD_ADDRESS;
    } else {
        h.written[file - 1].append(reinterpret_cast<const char*>(h.bytes + (address - h.base)), length);
        h.x[10] = length;
    }
    return next(d);
}

template <class X>
const Decoded<X>* breakpoint(Hart<X>&, const Decoded<X>*) {
    throw Trap{Cause::breakpoint, 0};
}

// The floating-point control and status register is the only one; without F there is none.
template <class X, auto F, bool IMMEDIATE>
const Decoded<X>* control(Hart<X>& h, const Decoded<X>* d) {
    const int number = int(d->imm);
    if (number < 1 || number > 3 || !(h.extensions & 1u << 3)) throw Trap{Cause::illegal, 0};
    const X old = number == 1 ? h.flags : number == 2 ? h.rounding : h.rounding << 5 | h.flags;
    const X made = F(old, IMMEDIATE ? X(d->rs1) : h.x[d->rs1]);
    if (number != 2) h.flags = made & 31;
    if (number != 1) h.rounding = (number == 2 ? made : made >> 5) & 7;
    h.x[d->rd] = old;
    return next(d);
}

template <class X, class T>
const Decoded<X>* load_reserved(Hart<X>& h, const Decoded<X>* d) {
    h.reservation = h.x[d->rs1];
    h.x[d->rd] = X(std::make_signed_t<X>(h.template load<T>(h.reservation)));
    h.reserved = true;
    return next(d);
}

// Succeeds after a load-reserved of the same address with no other between; 1 tells failure.
template <class X, class T>
const Decoded<X>* store_conditional(Hart<X>& h, const Decoded<X>* d) {
    const X address = h.x[d->rs1];
    h.template datum<T>(address, Cause::store);
    const bool succeeds = h.reserved && h.reservation == address;
    if (succeeds) h.template store<T>(address, T(h.x[d->rs2]));
    h.reserved = false;
    h.x[d->rd] = !succeeds;
    return next(d);
}

template <class X, class T, auto F>
const Decoded<X>* atomic(Hart<X>& h, const Decoded<X>* d) {
    const X address = h.x[d->rs1];
    h.template datum<T>(address, Cause::store);
    const T old = h.template load<T>(address);
    h.template store<T>(address, T(F(old, T(h.x[d->rs2]))));
    h.x[d->rd] = X(std::make_signed_t<X>(old));
    return next(d);
}

// The high half of a product, of signed operands where S and T say so.
template <class X, class S, class T>
constexpr auto high = [](X a, X b) -> X {
    if constexpr (sizeof(X) == 4)
        return X((int64_t(S(a)) * int64_t(T(b))) >> 32);
    else
        return X((i128(S(a)) * i128(T(b))) >> 64);
};

// RISC-V's division: by zero gives all ones and the dividend, the one overflow gives the dividend and 0.
template <class T>
constexpr auto quotient = [](auto a, auto b) -> T {
    const T n = T(a), d = T(b);
    if (d == 0) return T(-1);
    if (std::is_signed_v<T> && d == T(-1)) return T(0 - std::make_unsigned_t<T>(n));
    return n / d;
};
template <class T>
constexpr auto remainder = [](auto a, auto b) -> T {
    const T n = T(a), d = T(b);
    if (d == 0) return n;
    if (std::is_signed_v<T> && d == T(-1)) return 0;
    return n % d;
};

template <class X>
void atomics(Handlers<X>& t, Op lr, Op sc, Op swap, auto type) {
    using T = decltype(type);
    using U = std::make_unsigned_t<T>;
    const auto after = [&](int n) -> Handler<X>& { return t[size_t(swap) + n]; };  // amoswap, amoadd, ... in the order of the table
    t[size_t(lr)] = load_reserved<X, T>;
    t[size_t(sc)] = store_conditional<X, T>;
    after(0) = atomic<X, T, [](T, T b) { return b; }>;
    after(1) = atomic<X, T, [](T a, T b) { return U(a) + U(b); }>;
    after(2) = atomic<X, T, [](T a, T b) { return a ^ b; }>;
    after(3) = atomic<X, T, [](T a, T b) { return a & b; }>;
    after(4) = atomic<X, T, [](T a, T b) { return a | b; }>;
    after(5) = atomic<X, T, [](T a, T b) { return a < b ? a : b; }>;
    after(6) = atomic<X, T, [](T a, T b) { return (a > b) ? a : b; }>;
    after(7) = atomic<X, T, [](T a, T b) { return U(a) < U(b) ? a : b; }>;
    after(8) = atomic<X, T, [](T a, T b) { return (U(a) > U(b)) ? a : b; }>;
}
static_assert(int(Op::AMOMAXU_W) == int(Op::AMOSWAP_W) + 8 && int(Op::AMOMAXU_D) == int(Op::AMOSWAP_D) + 8);

// Every byte that is not 0 becomes 255.
template <class X>
constexpr auto whole_bytes = [](X a) -> X {
    X made = 0;
    for (unsigned n = 0; n < 8 * sizeof(X); n += 8) made |= a >> n & 255 ? X(255) << n : 0;
    return made;
};

// Sign-extends the low 32 bits: what the instructions of RV64 that end in w give.
template <class X>
X word(uint32_t a) {
    return X(std::make_signed_t<X>(int32_t(a)));
}

template <class X>
void integer_handlers(Handlers<X>& t) {
    using S = std::make_signed_t<X>;
    constexpr int BITS = 8 * sizeof(X);
    const auto on = [&](Op op) -> Handler<X>& { return t[size_t(op)]; };
    const auto both = [&](Op registers, Op constant, auto f) {
        on(registers) = binary<X, decltype(f){}>;
        on(constant) = immediate<X, decltype(f){}>;
    };
    on(Op::LUI) = on(Op::AUIPC) = constant<X>;
    on(Op::JAL) = jump<X>;
    on(Op::JALR) = jump_register<X>;
    on(Op::BEQ) = branch<X, [](X a, X b) { return a == b; }>;
    on(Op::BNE) = branch<X, [](X a, X b) { return a != b; }>;
    on(Op::BLT) = branch<X, [](X a, X b) { return S(a) < S(b); }>;
    on(Op::BGE) = branch<X, [](X a, X b) { return (S(a) >= S(b)); }>;
    on(Op::BLTU) = branch<X, [](X a, X b) { return a < b; }>;
    on(Op::BGEU) = branch<X, [](X a, X b) { return (a >= b); }>;
    on(Op::LB) = load<X, int8_t>;
    on(Op::LH) = load<X, int16_t>;
    on(Op::LW) = load<X, int32_t>;
    on(Op::LBU) = load<X, uint8_t>;
    on(Op::LHU) = load<X, uint16_t>;
    on(Op::SB) = store<X, uint8_t>;
    on(Op::SH) = store<X, uint16_t>;
    on(Op::SW) = store<X, uint32_t>;
    both(Op::ADD, Op::ADDI, [](X a, X b) -> X { return a + b; });
    both(Op::SLT, Op::SLTI, [](X a, X b) -> X { return S(a) < S(b); });
    both(Op::SLTU, Op::SLTIU, [](X a, X b) -> X { return a < b; });
    both(Op::XOR, Op::XORI, [](X a, X b) -> X { return a ^ b; });
    both(Op::OR, Op::ORI, [](X a, X b) -> X { return a | b; });
    both(Op::AND, Op::ANDI, [](X a, X b) -> X { return a & b; });
    both(Op::SLL, Op::SLLI, [](X a, X b) -> X { return a << (b & (BITS - 1)); });
    both(Op::SRL, Op::SRLI, [](X a, X b) -> X { return a >> (b & (BITS - 1)); });
    both(Op::SRA, Op::SRAI, [](X a, X b) -> X { return X(S(a) >> (b & (BITS - 1))); });
    on(Op::SUB) = binary<X, [](X a, X b) -> X { return a - b; }>;
    on(Op::FENCE) = on(Op::FENCE_TSO) = nothing<X>;
    on(Op::FENCE_I) = fence_i<X>;
    on(Op::ECALL) = environment_call<X>;
    on(Op::EBREAK) = breakpoint<X>;
    constexpr auto write = [](X, X given) { return given; };
    constexpr auto set = [](X old, X given) { return old | given; };
    constexpr auto clear = [](X old, X given) { return old & ~given; };
    on(Op::CSRRW) = control<X, write, false>;
    on(Op::CSRRS) = control<X, set, false>;
    on(Op::CSRRC) = control<X, clear, false>;
    on(Op::CSRRWI) = control<X, write, true>;
    on(Op::CSRRSI) = control<X, set, true>;
    on(Op::CSRRCI) = control<X, clear, true>;
    on(Op::MUL) = binary<X, [](X a, X b) -> X { return a * b; }>;
    on(Op::MULH) = binary<X, high<X, S, S>>;
    on(Op::MULHSU) = binary<X, high<X, S, X>>;
    on(Op::MULHU) = binary<X, high<X, X, X>>;
    on(Op::DIV) = binary<X, quotient<S>>;
    on(Op::DIVU) = binary<X, quotient<X>>;
    on(Op::REM) = binary<X, remainder<S>>;
    on(Op::REMU) = binary<X, remainder<X>>;
    atomics<X>(t, Op::LR_W, Op::SC_W, Op::AMOSWAP_W, int32_t());
    on(Op::ANDN) = binary<X, [](X a, X b) -> X { return a & ~b; }>;
    on(Op::ORN) = binary<X, [](X a, X b) -> X { return a | ~b; }>;
    on(Op::XNOR) = binary<X, [](X a, X b) -> X { return ~(a ^ b); }>;
    on(Op::MIN) = binary<X, [](X a, X b) -> X { return S(a) < S(b) ? a : b; }>;
    on(Op::MAX) = binary<X, [](X a, X b) -> X { return (S(a) > S(b)) ? a : b; }>;
    on(Op::MINU) = binary<X, [](X a, X b) -> X { return a < b ? a : b; }>;
    on(Op::MAXU) = binary<X, [](X a, X b) -> X { return (a > b) ? a : b; }>;
    on(Op::ROL) = binary<X, [](X a, X b) -> X { return std::rotl(a, int(b & (BITS - 1))); }>;
    both(Op::ROR, Op::RORI, [](X a, X b) -> X { return std::rotr(a, int(b & (BITS - 1))); });
    on(Op::CLZ) = unary<X, [](X a) -> X { return std::countl_zero(a); }>;
    on(Op::CTZ) = unary<X, [](X a) -> X { return std::countr_zero(a); }>;
    on(Op::CPOP) = unary<X, [](X a) -> X { return std::popcount(a); }>;
    on(Op::SEXT_B) = unary<X, [](X a) -> X { return X(S(int8_t(a))); }>;
    on(Op::SEXT_H) = unary<X, [](X a) -> X { return X(S(int16_t(a))); }>;
    on(Op::ZEXT_H) = unary<X, [](X a) -> X { return uint16_t(a); }>;
    on(Op::REV8) = unary<X, [](X a) -> X { return sizeof(X) == 4 ? X(__builtin_bswap32(uint32_t(a))) : X(__builtin_bswap64(a)); }>;
    on(Op::ORC_B) = unary<X, whole_bytes<X>>;
    on(Op::CZERO_EQZ) = binary<X, [](X a, X b) -> X { return b == 0 ? 0 : a; }>;
    on(Op::CZERO_NEZ) = binary<X, [](X a, X b) -> X { return b != 0 ? 0 : a; }>;
    if constexpr (BITS == 64) {
        on(Op::LWU) = load<X, uint32_t>;
        on(Op::LD) = load<X, uint64_t>;
        on(Op::SD) = store<X, uint64_t>;
        both(Op::ADDW, Op::ADDIW, [](X a, X b) { return word<X>(uint32_t(a + b)); });
        both(Op::SLLW, Op::SLLIW, [](X a, X b) { return word<X>(uint32_t(a) << (b & 31)); });
        both(Op::SRLW, Op::SRLIW, [](X a, X b) { return word<X>(uint32_t(a) >> (b & 31)); });
        both(Op::SRAW, Op::SRAIW, [](X a, X b) { return word<X>(uint32_t(int32_t(a) >> (b & 31))); });
        on(Op::SUBW) = binary<X, [](X a, X b) { return word<X>(uint32_t(a - b)); }>;
        on(Op::MULW) = binary<X, [](X a, X b) { return word<X>(uint32_t(a * b)); }>;
        on(Op::DIVW) = binary<X, [](X a, X b) { return word<X>(uint32_t(quotient<int32_t>(a, b))); }>;
        on(Op::DIVUW) = binary<X, [](X a, X b) { return word<X>(quotient<uint32_t>(a, b)); }>;
        on(Op::REMW) = binary<X, [](X a, X b) { return word<X>(uint32_t(remainder<int32_t>(a, b))); }>;
        on(Op::REMUW) = binary<X, [](X a, X b) { return word<X>(remainder<uint32_t>(a, b)); }>;
        on(Op::ROLW) = binary<X, [](X a, X b) { return word<X>(std::rotl(uint32_t(a), int(b & 31))); }>;
        both(Op::RORW, Op::RORIW, [](X a, X b) { return word<X>(std::rotr(uint32_t(a), int(b & 31))); });
        on(Op::CLZW) = unary<X, [](X a) -> X { return std::countl_zero(uint32_t(a)); }>;
        on(Op::CTZW) = unary<X, [](X a) -> X { return std::countr_zero(uint32_t(a)); }>;
        on(Op::CPOPW) = unary<X, [](X a) -> X { return std::popcount(uint32_t(a)); }>;
        atomics<X>(t, Op::LR_D, Op::SC_D, Op::AMOSWAP_D, int64_t());
    }
}

}  // namespace polyloom::riscv
