// SPDX-License-Identifier: Apache-2.0
// What each instruction of the table does, as a kernel, and which pairs become one step.
// Source: The RISC-V Instruction Set Manual, Volume I, version 20250508.
#pragma once

#include <utility>

#include "floating.hpp"

namespace polyloom::riscv {

// The kernel of an instruction; RV32 has none where RV64 alone has the instruction.
template <class P, Op OP>
struct Meaning {
    using Kernel = void;
};

#define POLYLOOM_MEANING(OP, WIDE, ...)                               \
    template <class P>                                                \
        requires(!WIDE || sizeof(typename P::X) == 8)                 \
    struct Meaning<P, Op::OP> {                                       \
        using X [[maybe_unused]] = typename P::X;                     \
        using S [[maybe_unused]] = std::make_signed_t<X>;             \
        static constexpr X LAST [[maybe_unused]] = 8 * sizeof(X) - 1; \
        using Kernel = __VA_ARGS__;                                   \
    };

POLYLOOM_MEANING(LUI, false, Constant<P>)
POLYLOOM_MEANING(AUIPC, false, Constant<P>)
POLYLOOM_MEANING(JAL, false, Jump<P>)
POLYLOOM_MEANING(JALR, false, JumpRegister<P>)
POLYLOOM_MEANING(BEQ, false, Branch<P, [](X a, X b) { return a == b; }>)
POLYLOOM_MEANING(BNE, false, Branch<P, [](X a, X b) { return a != b; }>)
POLYLOOM_MEANING(BLT, false, Branch<P, [](X a, X b) { return S(a) < S(b); }>)
POLYLOOM_MEANING(BGE, false, Branch<P, [](X a, X b) { return (S(a) >= S(b)); }>)
POLYLOOM_MEANING(BLTU, false, Branch<P, [](X a, X b) { return a < b; }>)
POLYLOOM_MEANING(BGEU, false, Branch<P, [](X a, X b) { return (a >= b); }>)
POLYLOOM_MEANING(LB, false, Load<P, int8_t>)
POLYLOOM_MEANING(LH, false, Load<P, int16_t>)
POLYLOOM_MEANING(LW, false, Load<P, int32_t>)
POLYLOOM_MEANING(LBU, false, Load<P, uint8_t>)
POLYLOOM_MEANING(LHU, false, Load<P, uint16_t>)
POLYLOOM_MEANING(LWU, true, Load<P, uint32_t>)
POLYLOOM_MEANING(LD, true, Load<P, uint64_t>)
POLYLOOM_MEANING(SB, false, Store<P, uint8_t>)
POLYLOOM_MEANING(SH, false, Store<P, uint16_t>)
POLYLOOM_MEANING(SW, false, Store<P, uint32_t>)
POLYLOOM_MEANING(SD, true, Store<P, uint64_t>)
POLYLOOM_MEANING(ADDI, false, Immediate<P, [](X a, X b) -> X { return a + b; }>)
POLYLOOM_MEANING(SLTI, false, Immediate<P, [](X a, X b) -> X { return S(a) < S(b); }>)
POLYLOOM_MEANING(SLTIU, false, Immediate<P, [](X a, X b) -> X { return a < b; }>)
POLYLOOM_MEANING(XORI, false, Immediate<P, [](X a, X b) -> X { return a ^ b; }>)
POLYLOOM_MEANING(ORI, false, Immediate<P, [](X a, X b) -> X { return a | b; }>)
POLYLOOM_MEANING(ANDI, false, Immediate<P, [](X a, X b) -> X { return a & b; }>)
POLYLOOM_MEANING(SLLI, false, Immediate<P, [](X a, X b) -> X { return a << (b & LAST); }>)
POLYLOOM_MEANING(SRLI, false, Immediate<P, [](X a, X b) -> X { return (a >> (b & LAST)); }>)
POLYLOOM_MEANING(SRAI, false, Immediate<P, [](X a, X b) -> X { return X(S(a) >> (b & LAST)); }>)
POLYLOOM_MEANING(ADD, false, Binary<P, [](X a, X b) -> X { return a + b; }>)
POLYLOOM_MEANING(SUB, false, Binary<P, [](X a, X b) -> X { return a - b; }>)
POLYLOOM_MEANING(SLL, false, Binary<P, [](X a, X b) -> X { return a << (b & LAST); }>)
POLYLOOM_MEANING(SLT, false, Binary<P, [](X a, X b) -> X { return S(a) < S(b); }>)
POLYLOOM_MEANING(SLTU, false, Binary<P, [](X a, X b) -> X { return a < b; }>)
POLYLOOM_MEANING(XOR, false, Binary<P, [](X a, X b) -> X { return a ^ b; }>)
POLYLOOM_MEANING(SRL, false, Binary<P, [](X a, X b) -> X { return (a >> (b & LAST)); }>)
POLYLOOM_MEANING(SRA, false, Binary<P, [](X a, X b) -> X { return X(S(a) >> (b & LAST)); }>)
POLYLOOM_MEANING(OR, false, Binary<P, [](X a, X b) -> X { return a | b; }>)
POLYLOOM_MEANING(AND, false, Binary<P, [](X a, X b) -> X { return a & b; }>)
POLYLOOM_MEANING(ADDIW, true, Immediate<P, [](X a, X b) { return word<X>(uint32_t(a + b)); }>)
POLYLOOM_MEANING(SLLIW, true, Immediate<P, [](X a, X b) { return word<X>(uint32_t(a) << (b & 31)); }>)
POLYLOOM_MEANING(SRLIW, true, Immediate<P, [](X a, X b) { return word<X>(uint32_t(a) >> (b & 31)); }>)
POLYLOOM_MEANING(SRAIW, true, Immediate<P, [](X a, X b) { return word<X>(uint32_t(int32_t(a) >> (b & 31))); }>)
POLYLOOM_MEANING(ADDW, true, Binary<P, [](X a, X b) { return word<X>(uint32_t(a + b)); }>)
POLYLOOM_MEANING(SUBW, true, Binary<P, [](X a, X b) { return word<X>(uint32_t(a - b)); }>)
POLYLOOM_MEANING(SLLW, true, Binary<P, [](X a, X b) { return word<X>(uint32_t(a) << (b & 31)); }>)
POLYLOOM_MEANING(SRLW, true, Binary<P, [](X a, X b) { return word<X>(uint32_t(a) >> (b & 31)); }>)
POLYLOOM_MEANING(SRAW, true, Binary<P, [](X a, X b) { return word<X>(uint32_t(int32_t(a) >> (b & 31))); }>)
POLYLOOM_MEANING(FENCE, false, Nothing<P>)
POLYLOOM_MEANING(FENCE_TSO, false, Nothing<P>)
POLYLOOM_MEANING(ECALL, false, Function<P, environment_call<P>>)
POLYLOOM_MEANING(EBREAK, false, Function<P, breakpoint<P>>)
POLYLOOM_MEANING(FENCE_I, false, FenceInstructions<P>)
POLYLOOM_MEANING(CSRRW, false, Function<P, control<P, Change::write, false>>)
POLYLOOM_MEANING(CSRRS, false, Function<P, control<P, Change::set, false>>)
POLYLOOM_MEANING(CSRRC, false, Function<P, control<P, Change::clear, false>>)
POLYLOOM_MEANING(CSRRWI, false, Function<P, control<P, Change::write, true>>)
POLYLOOM_MEANING(CSRRSI, false, Function<P, control<P, Change::set, true>>)
POLYLOOM_MEANING(CSRRCI, false, Function<P, control<P, Change::clear, true>>)
POLYLOOM_MEANING(MUL, false, Binary<P, [](X a, X b) -> X { return a * b; }>)
POLYLOOM_MEANING(MULH, false, Binary<P, high<X, S, S>>)
POLYLOOM_MEANING(MULHSU, false, Binary<P, high<X, S, X>>)
POLYLOOM_MEANING(MULHU, false, Binary<P, high<X, X, X>>)
POLYLOOM_MEANING(DIV, false, Binary<P, quotient<S>>)
POLYLOOM_MEANING(DIVU, false, Binary<P, quotient<X>>)
POLYLOOM_MEANING(REM, false, Binary<P, remainder<S>>)
POLYLOOM_MEANING(REMU, false, Binary<P, remainder<X>>)
POLYLOOM_MEANING(MULW, true, Binary<P, [](X a, X b) { return word<X>(uint32_t(a * b)); }>)
POLYLOOM_MEANING(DIVW, true, Binary<P, [](X a, X b) { return word<X>(uint32_t(quotient<int32_t>(a, b))); }>)
POLYLOOM_MEANING(DIVUW, true, Binary<P, [](X a, X b) { return word<X>(quotient<uint32_t>(a, b)); }>)
POLYLOOM_MEANING(REMW, true, Binary<P, [](X a, X b) { return word<X>(uint32_t(remainder<int32_t>(a, b))); }>)
POLYLOOM_MEANING(REMUW, true, Binary<P, [](X a, X b) { return word<X>(remainder<uint32_t>(a, b)); }>)
POLYLOOM_MEANING(LR_W, false, Function<P, load_reserved<P, int32_t>>)
POLYLOOM_MEANING(SC_W, false, Function<P, store_conditional<P, int32_t>>)
POLYLOOM_MEANING(AMOSWAP_W, false, Function<P, atomic<P, int32_t, [](int32_t, int32_t b) { return b; }>>)
POLYLOOM_MEANING(AMOADD_W, false,
                 Function<P, atomic<P, int32_t, [](int32_t a, int32_t b) { return uint32_t(a) + uint32_t(b); }>>)
POLYLOOM_MEANING(AMOXOR_W, false, Function<P, atomic<P, int32_t, [](int32_t a, int32_t b) { return a ^ b; }>>)
POLYLOOM_MEANING(AMOAND_W, false, Function<P, atomic<P, int32_t, [](int32_t a, int32_t b) { return a & b; }>>)
POLYLOOM_MEANING(AMOOR_W, false, Function<P, atomic<P, int32_t, [](int32_t a, int32_t b) { return a | b; }>>)
POLYLOOM_MEANING(AMOMIN_W, false, Function<P, atomic<P, int32_t, [](int32_t a, int32_t b) { return a < b ? a : b; }>>)
POLYLOOM_MEANING(AMOMAX_W, false, Function<P, atomic<P, int32_t, [](int32_t a, int32_t b) { return (a > b) ? a : b; }>>)
POLYLOOM_MEANING(
    AMOMINU_W, false,
    Function<P, atomic<P, int32_t, [](int32_t a, int32_t b) { return uint32_t(a) < uint32_t(b) ? a : b; }>>)
POLYLOOM_MEANING(
    AMOMAXU_W, false,
    Function<P, atomic<P, int32_t, [](int32_t a, int32_t b) { return (uint32_t(a) > uint32_t(b)) ? a : b; }>>)
POLYLOOM_MEANING(LR_D, true, Function<P, load_reserved<P, int64_t>>)
POLYLOOM_MEANING(SC_D, true, Function<P, store_conditional<P, int64_t>>)
POLYLOOM_MEANING(AMOSWAP_D, true, Function<P, atomic<P, int64_t, [](int64_t, int64_t b) { return b; }>>)
POLYLOOM_MEANING(AMOADD_D, true,
                 Function<P, atomic<P, int64_t, [](int64_t a, int64_t b) { return uint64_t(a) + uint64_t(b); }>>)
POLYLOOM_MEANING(AMOXOR_D, true, Function<P, atomic<P, int64_t, [](int64_t a, int64_t b) { return a ^ b; }>>)
POLYLOOM_MEANING(AMOAND_D, true, Function<P, atomic<P, int64_t, [](int64_t a, int64_t b) { return a & b; }>>)
POLYLOOM_MEANING(AMOOR_D, true, Function<P, atomic<P, int64_t, [](int64_t a, int64_t b) { return a | b; }>>)
POLYLOOM_MEANING(AMOMIN_D, true, Function<P, atomic<P, int64_t, [](int64_t a, int64_t b) { return a < b ? a : b; }>>)
POLYLOOM_MEANING(AMOMAX_D, true, Function<P, atomic<P, int64_t, [](int64_t a, int64_t b) { return (a > b) ? a : b; }>>)
POLYLOOM_MEANING(
    AMOMINU_D, true,
    Function<P, atomic<P, int64_t, [](int64_t a, int64_t b) { return uint64_t(a) < uint64_t(b) ? a : b; }>>)
POLYLOOM_MEANING(
    AMOMAXU_D, true,
    Function<P, atomic<P, int64_t, [](int64_t a, int64_t b) { return (uint64_t(a) > uint64_t(b)) ? a : b; }>>)
POLYLOOM_MEANING(FLW, false, Load<P, uint32_t, ToFloat<P, Single>>)
POLYLOOM_MEANING(FSW, false, Store<P, uint32_t, FromFloat<P, Single>>)
POLYLOOM_MEANING(FMADD_S, false, FloatFused<P, Single, false, false>)
POLYLOOM_MEANING(FMSUB_S, false, FloatFused<P, Single, false, true>)
POLYLOOM_MEANING(FNMSUB_S, false, FloatFused<P, Single, true, false>)
POLYLOOM_MEANING(FNMADD_S, false, FloatFused<P, Single, true, true>)
POLYLOOM_MEANING(FADD_S, false, FloatBinary<P, Single, add<Single>, [](float a, float b) { return a + b; }>)
POLYLOOM_MEANING(FSUB_S, false, FloatBinary<P, Single, sub<Single>, [](float a, float b) { return a - b; }>)
POLYLOOM_MEANING(FMUL_S, false, FloatBinary<P, Single, mul<Single>, [](float a, float b) { return a * b; }>)
POLYLOOM_MEANING(FDIV_S, false, FloatBinary<P, Single, div<Single>, [](float a, float b) { return a / b; }>)
POLYLOOM_MEANING(FSQRT_S, false, FloatUnary<P, Single, sqrt<Single>, [](float a) { return std::sqrt(a); }>)
POLYLOOM_MEANING(FSGNJ_S, false, FloatBits<P, Single, [](uint32_t a, uint32_t b, uint8_t&) -> uint32_t {
                     return (a & ~Single::SIGN) | (b & Single::SIGN);
                 }>)
POLYLOOM_MEANING(FSGNJN_S, false, FloatBits<P, Single, [](uint32_t a, uint32_t b, uint8_t&) -> uint32_t {
                     return (a & ~Single::SIGN) | (~b & Single::SIGN);
                 }>)
POLYLOOM_MEANING(
    FSGNJX_S, false,
    FloatBits<P, Single, [](uint32_t a, uint32_t b, uint8_t&) -> uint32_t { return a ^ (b & Single::SIGN); }>)
POLYLOOM_MEANING(FMIN_S, false, FloatBits<P, Single, extreme<Single, false>>)
POLYLOOM_MEANING(FMAX_S, false, FloatBits<P, Single, extreme<Single, true>>)
POLYLOOM_MEANING(FEQ_S, false, FloatTest<P, Single, equal<Single>>)
POLYLOOM_MEANING(FLT_S, false, FloatTest<P, Single, less<Single>>)
POLYLOOM_MEANING(FLE_S, false, FloatTest<P, Single, less_or_equal<Single>>)
POLYLOOM_MEANING(FCLASS_S, false,
                 FloatTest<P, Single, [](uint32_t a, uint32_t, uint8_t&) { return classify<Single>(a); }>)
POLYLOOM_MEANING(FCVT_W_S, false, Function<P, float_to_integer<P, Single, int32_t>>)
POLYLOOM_MEANING(FCVT_WU_S, false, Function<P, float_to_integer<P, Single, uint32_t>>)
POLYLOOM_MEANING(FCVT_L_S, true, Function<P, float_to_integer<P, Single, int64_t>>)
POLYLOOM_MEANING(FCVT_LU_S, true, Function<P, float_to_integer<P, Single, uint64_t>>)
POLYLOOM_MEANING(FCVT_S_W, false, Function<P, integer_to_float<P, Single, int32_t>>)
POLYLOOM_MEANING(FCVT_S_WU, false, Function<P, integer_to_float<P, Single, uint32_t>>)
POLYLOOM_MEANING(FCVT_S_L, true, Function<P, integer_to_float<P, Single, int64_t>>)
POLYLOOM_MEANING(FCVT_S_LU, true, Function<P, integer_to_float<P, Single, uint64_t>>)
POLYLOOM_MEANING(FMV_X_W, false, FloatMoveOut<P, int32_t>)
POLYLOOM_MEANING(FMV_W_X, false, FloatMoveIn<P, Single>)
POLYLOOM_MEANING(FLD, false, Load<P, uint64_t, ToFloat<P, Double>>)
POLYLOOM_MEANING(FSD, false, Store<P, uint64_t, FromFloat<P, Double>>)
POLYLOOM_MEANING(FMADD_D, false, FloatFused<P, Double, false, false>)
POLYLOOM_MEANING(FMSUB_D, false, FloatFused<P, Double, false, true>)
POLYLOOM_MEANING(FNMSUB_D, false, FloatFused<P, Double, true, false>)
POLYLOOM_MEANING(FNMADD_D, false, FloatFused<P, Double, true, true>)
POLYLOOM_MEANING(FADD_D, false, FloatBinary<P, Double, add<Double>, [](double a, double b) { return a + b; }>)
POLYLOOM_MEANING(FSUB_D, false, FloatBinary<P, Double, sub<Double>, [](double a, double b) { return a - b; }>)
POLYLOOM_MEANING(FMUL_D, false, FloatBinary<P, Double, mul<Double>, [](double a, double b) { return a * b; }>)
POLYLOOM_MEANING(FDIV_D, false, FloatBinary<P, Double, div<Double>, [](double a, double b) { return a / b; }>)
POLYLOOM_MEANING(FSQRT_D, false, FloatUnary<P, Double, sqrt<Double>, [](double a) { return std::sqrt(a); }>)
POLYLOOM_MEANING(FSGNJ_D, false, FloatBits<P, Double, [](uint64_t a, uint64_t b, uint8_t&) -> uint64_t {
                     return (a & ~Double::SIGN) | (b & Double::SIGN);
                 }>)
POLYLOOM_MEANING(FSGNJN_D, false, FloatBits<P, Double, [](uint64_t a, uint64_t b, uint8_t&) -> uint64_t {
                     return (a & ~Double::SIGN) | (~b & Double::SIGN);
                 }>)
POLYLOOM_MEANING(
    FSGNJX_D, false,
    FloatBits<P, Double, [](uint64_t a, uint64_t b, uint8_t&) -> uint64_t { return a ^ (b & Double::SIGN); }>)
POLYLOOM_MEANING(FMIN_D, false, FloatBits<P, Double, extreme<Double, false>>)
POLYLOOM_MEANING(FMAX_D, false, FloatBits<P, Double, extreme<Double, true>>)
POLYLOOM_MEANING(FEQ_D, false, FloatTest<P, Double, equal<Double>>)
POLYLOOM_MEANING(FLT_D, false, FloatTest<P, Double, less<Double>>)
POLYLOOM_MEANING(FLE_D, false, FloatTest<P, Double, less_or_equal<Double>>)
POLYLOOM_MEANING(FCLASS_D, false,
                 FloatTest<P, Double, [](uint64_t a, uint64_t, uint8_t&) { return classify<Double>(a); }>)
POLYLOOM_MEANING(FCVT_S_D, false, Function<P, float_convert<P, Single, Double>>)
POLYLOOM_MEANING(FCVT_D_S, false, Function<P, float_convert<P, Double, Single>>)
POLYLOOM_MEANING(FCVT_W_D, false, Function<P, float_to_integer<P, Double, int32_t>>)
POLYLOOM_MEANING(FCVT_WU_D, false, Function<P, float_to_integer<P, Double, uint32_t>>)
POLYLOOM_MEANING(FCVT_L_D, true, Function<P, float_to_integer<P, Double, int64_t>>)
POLYLOOM_MEANING(FCVT_LU_D, true, Function<P, float_to_integer<P, Double, uint64_t>>)
POLYLOOM_MEANING(FCVT_D_W, false, Function<P, integer_to_float<P, Double, int32_t>>)
POLYLOOM_MEANING(FCVT_D_WU, false, Function<P, integer_to_float<P, Double, uint32_t>>)
POLYLOOM_MEANING(FCVT_D_L, true, Function<P, integer_to_float<P, Double, int64_t>>)
POLYLOOM_MEANING(FCVT_D_LU, true, Function<P, integer_to_float<P, Double, uint64_t>>)
POLYLOOM_MEANING(FMV_X_D, true, FloatMoveOut<P, int64_t>)
POLYLOOM_MEANING(FMV_D_X, true, FloatMoveIn<P, Double>)
POLYLOOM_MEANING(ANDN, false, Binary<P, [](X a, X b) -> X { return a & ~b; }>)
POLYLOOM_MEANING(ORN, false, Binary<P, [](X a, X b) -> X { return a | ~b; }>)
POLYLOOM_MEANING(XNOR, false, Binary<P, [](X a, X b) -> X { return ~(a ^ b); }>)
POLYLOOM_MEANING(MIN, false, Binary<P, [](X a, X b) -> X { return S(a) < S(b) ? a : b; }>)
POLYLOOM_MEANING(MINU, false, Binary<P, [](X a, X b) -> X { return a < b ? a : b; }>)
POLYLOOM_MEANING(MAX, false, Binary<P, [](X a, X b) -> X { return (S(a) > S(b)) ? a : b; }>)
POLYLOOM_MEANING(MAXU, false, Binary<P, [](X a, X b) -> X { return (a > b) ? a : b; }>)
POLYLOOM_MEANING(ROL, false, Binary<P, [](X a, X b) -> X { return std::rotl(a, int(b & LAST)); }>)
POLYLOOM_MEANING(ROR, false, Binary<P, [](X a, X b) -> X { return std::rotr(a, int(b & LAST)); }>)
POLYLOOM_MEANING(ROLW, true, Binary<P, [](X a, X b) { return word<X>(std::rotl(uint32_t(a), int(b & 31))); }>)
POLYLOOM_MEANING(RORW, true, Binary<P, [](X a, X b) { return word<X>(std::rotr(uint32_t(a), int(b & 31))); }>)
POLYLOOM_MEANING(RORI, false, Immediate<P, [](X a, X b) -> X { return std::rotr(a, int(b & LAST)); }>)
POLYLOOM_MEANING(RORIW, true, Immediate<P, [](X a, X b) { return word<X>(std::rotr(uint32_t(a), int(b & 31))); }>)
POLYLOOM_MEANING(CLZ, false, Unary<P, [](X a) -> X { return std::countl_zero(a); }>)
POLYLOOM_MEANING(CTZ, false, Unary<P, [](X a) -> X { return std::countr_zero(a); }>)
POLYLOOM_MEANING(CPOP, false, Unary<P, [](X a) -> X { return std::popcount(a); }>)
POLYLOOM_MEANING(SEXT_B, false, Unary<P, [](X a) -> X { return X(S(int8_t(a))); }>)
POLYLOOM_MEANING(SEXT_H, false, Unary<P, [](X a) -> X { return X(S(int16_t(a))); }>)
POLYLOOM_MEANING(CLZW, true, Unary<P, [](X a) -> X { return std::countl_zero(uint32_t(a)); }>)
POLYLOOM_MEANING(CTZW, true, Unary<P, [](X a) -> X { return std::countr_zero(uint32_t(a)); }>)
POLYLOOM_MEANING(CPOPW, true, Unary<P, [](X a) -> X { return std::popcount(uint32_t(a)); }>)
POLYLOOM_MEANING(ZEXT_H, false, Unary<P, [](X a) -> X { return uint16_t(a); }>)
POLYLOOM_MEANING(
    REV8, false,
    Unary<P, [](X a) -> X { return sizeof(X) == 4 ? X(__builtin_bswap32(uint32_t(a))) : X(__builtin_bswap64(a)); }>)
POLYLOOM_MEANING(ORC_B, false, Unary<P, whole_bytes<X>>)
POLYLOOM_MEANING(CZERO_EQZ, false, Binary<P, [](X a, X b) -> X { return b == 0 ? 0 : a; }>)
POLYLOOM_MEANING(CZERO_NEZ, false, Binary<P, [](X a, X b) -> X { return b != 0 ? 0 : a; }>)

#undef POLYLOOM_MEANING

template <class P, Op OP>
constexpr Action<P> step_of() {
    using K = typename Meaning<P, OP>::Kernel;
    if constexpr (std::is_void_v<K>)
        return nullptr;
    else
        return step<P, K>;
}

template <class P>
using Steps = std::array<Action<P>, size_t(Op::COUNT)>;

template <class P>
inline constexpr Steps<P> STEPS = []<size_t... N>(std::index_sequence<N...>) {
    return Steps<P>{step_of<P, Op(N)>()...};
}(std::make_index_sequence<size_t(Op::COUNT)>());

// Pairs that become one step where the policy says FUSED, and does not ask for each instruction: those that occur in
// the innermost loops of examples/ as they are compiled, and in the loops of `bench riscv`. They are a third of what
// the same instructions could form, and each is compiled for each machine.
template <Op FIRST, Op... SECOND>
struct After {};
template <class...>
struct Pairs {};
using Frequent = Pairs<
    After<Op::ADDI, Op::BEQ, Op::BNE, Op::BLT, Op::BGE, Op::BLTU, Op::BGEU, Op::JAL, Op::ADDI, Op::ADD, Op::SUB,
          Op::XOR, Op::AND, Op::ANDI, Op::SLLI, Op::SRLI, Op::ADDIW, Op::ADDW, Op::LW, Op::LD, Op::SW, Op::SD>,
    After<Op::ADD, Op::BEQ, Op::BNE, Op::BLT, Op::JAL, Op::ADDI, Op::ADD, Op::XOR, Op::SLLI, Op::ADDIW, Op::LW, Op::LD,
          Op::SW, Op::SD>,
    After<Op::SUB, Op::JAL, Op::ADDI, Op::ADD, Op::SUB, Op::AND, Op::SD>,
    After<Op::XOR, Op::BNE, Op::BLT, Op::ADDI, Op::ANDI, Op::ADDIW>,
    After<Op::AND, Op::ADD, Op::SRLI, Op::ADDW, Op::SW>,
    After<Op::ANDI, Op::BEQ, Op::BNE, Op::BGE, Op::ADD, Op::SLLI, Op::ADDW>, After<Op::OR, Op::ADDI, Op::ADDIW>,
    After<Op::SLLI, Op::BGE, Op::ADDI, Op::ADD, Op::SRLI, Op::LW>, After<Op::SRLI, Op::ANDI, Op::SRLI, Op::ADDIW>,
    After<Op::MUL, Op::JAL, Op::ADDI, Op::ADD, Op::SUB, Op::LW>, After<Op::LUI, Op::ADDI, Op::ADD, Op::ADDIW>,
    After<Op::ADDIW, Op::BNE, Op::BLT, Op::BLTU, Op::JAL, Op::ADDI, Op::ADD, Op::XOR, Op::ADDIW, Op::SW>,
    After<Op::ADDW, Op::BNE, Op::BLT, Op::BLTU, Op::JAL, Op::ADDI, Op::ADDIW, Op::ADDW, Op::SW>,
    After<Op::LW, Op::BEQ, Op::BLT, Op::BGE, Op::JAL, Op::ADDI, Op::ADD, Op::SLLI, Op::ADDIW, Op::ADDW, Op::LW, Op::SW>,
    After<Op::LD, Op::BEQ, Op::BNE, Op::ADDI, Op::ADD, Op::LD, Op::SD>>;

template <class P, Op A, Op B>
constexpr Action<P> pair_of() {
    using K = typename Meaning<P, A>::Kernel;
    using L = typename Meaning<P, B>::Kernel;
    if constexpr (std::is_void_v<K> || std::is_void_v<L>)
        return nullptr;
    else
        return step<P, Pair<P, K, L>>;
}

template <class P, Op A, Op... B>
constexpr Action<P> second_of(uint16_t second, After<A, B...>) {
    Action<P> found = nullptr;
    ((second == uint16_t(B) ? void(found = pair_of<P, A, B>()) : void()), ...);
    return found;
}

template <Op A, Op... B>
constexpr bool begins(uint16_t first, After<A, B...>) {
    return first == uint16_t(A);
}

template <class P, class... ROW>
constexpr Action<P> first_of(uint16_t first, uint16_t second, Pairs<ROW...>) {
    Action<P> found = nullptr;
    ((begins(first, ROW()) ? void(found = second_of<P>(second, ROW())) : void()), ...);
    return found;
}

// The step of a pair, or null.
template <class P>
Action<P> pair(uint16_t first, uint16_t second) {
    if constexpr (P::FUSED && !P::Timing::PRESENT)
        return first_of<P>(first, second, Frequent());
    else
        return nullptr;
}

}  // namespace polyloom::riscv
