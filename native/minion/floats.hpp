// SPDX-License-Identifier: Apache-2.0
// Scalar floating-point instructions, in the machine's environment (single.hpp) on lane 0, as custom rows over the
// encodings of the table. A result clears the other lanes. Division, square root and conversions of 64-bit integers
// trap to software with cause 30. Sources: facts §2.
#pragma once

#include <cmath>
#include <limits>

#include "core.hpp"
#include "riscv/execute.hpp"
#include "single.hpp"

namespace polyloom::minion {

constexpr unsigned EMULATED = 30;

namespace scalar {

using riscv::DONE;
using riscv::Op;
using riscv::Single;
using Bits = uint32_t;

// The first four operands and the result, from the word.
template <class P>
struct Operands {
    explicit Operands(const riscv::Decoded<P>& d) : word(uint32_t(d.imm)) {}
    [[nodiscard]] unsigned rd() const { return word >> 7 & 31; }
    [[nodiscard]] unsigned rs1() const { return word >> 15 & 31; }
    [[nodiscard]] unsigned rs2() const { return word >> 20 & 31; }
    [[nodiscard]] unsigned rs3() const { return word >> 27; }
    [[nodiscard]] unsigned mode(const riscv::Hart<P>& h) const {
        const unsigned named = word >> 12 & 7;
        return named == 7 ? h.rounding : named;
    }
    uint32_t word;
};

template <class P>
void put(riscv::Hart<P>& h, unsigned number, Bits bits) {
    h.f[number] = {};
    h.f[number].lane[0] = bits;
}

// A function of single.hpp, and flags as a hart keeps them.
template <class P, class G>
auto raised(riscv::Hart<P>& h, G function) {
    uint32_t flags = 0;
    const auto made = function(flags);
    h.flags |= flags_kept(flags);
    return made;
}

// Where NX is set already, rounding is to nearest, operands are normal or 0, and so is the host's result, that is the
// result and no flag changes.
inline bool ordinary(Bits a) { return !single::is_subnormal(a) && !single::is_special(a); }
inline bool plain(float result) {
    const float size = std::abs(result);
    return size > std::numeric_limits<float>::min() && size <= std::numeric_limits<float>::max();
}

template <class P, auto EXACT, auto HOST>
Answer binary(riscv::Hart<P>& h, const riscv::Decoded<P>& d) {
    if (const Answer answer = floating(h, d); answer.kind != Answer::done) [[unlikely]]
        return answer;
    const Operands<P> at(d);
    const unsigned mode = at.mode(h);
    if (mode > riscv::RMM) return riscv::ABSENT;
    const Bits a = h.f[at.rs1()].lane[0], b = h.f[at.rs2()].lane[0];
    if (mode == riscv::RNE && h.flags & riscv::NX && ordinary(a) && ordinary(b)) [[likely]] {
        const float made = HOST(std::bit_cast<float>(a), std::bit_cast<float>(b));
        if (plain(made)) return put(h, at.rd(), std::bit_cast<Bits>(made)), DONE;
    }
    put(h, at.rd(), raised(h, [&](uint32_t& flags) { return EXACT(a, b, int(mode), flags); }));
    return DONE;
}

// +-(rs1 * rs2) +- rs3: the signs of the product and of the addend.
template <class P, bool PRODUCT, bool ADDEND>
Answer fused(riscv::Hart<P>& h, const riscv::Decoded<P>& d) {
    if (const Answer answer = floating(h, d); answer.kind != Answer::done) [[unlikely]]
        return answer;
    const Operands<P> at(d);
    const unsigned mode = at.mode(h);
    if (mode > riscv::RMM) return riscv::ABSENT;
    const auto turned = [](Bits v, bool turn) { return turn && !Single::is_nan(v) ? v ^ Single::SIGN : v; };
    const Bits a = turned(h.f[at.rs1()].lane[0], PRODUCT), b = h.f[at.rs2()].lane[0];
    const Bits c = turned(h.f[at.rs3()].lane[0], ADDEND);
    if (mode == riscv::RNE && h.flags & riscv::NX && ordinary(a) && ordinary(b) && ordinary(c)) [[likely]] {
        const float made = std::fma(std::bit_cast<float>(a), std::bit_cast<float>(b), std::bit_cast<float>(c));
        if (plain(made)) return put(h, at.rd(), std::bit_cast<Bits>(made)), DONE;
    }
    put(h, at.rd(), raised(h, [&](uint32_t& flags) { return single::fma(a, b, c, int(mode), flags); }));
    return DONE;
}

// A function of two registers that does not round: to a float, or to an integer register.
template <class P, bool TO_INTEGER, auto G>
Answer bits(riscv::Hart<P>& h, const riscv::Decoded<P>& d) {
    if (const Answer answer = floating(h, d); answer.kind != Answer::done) [[unlikely]]
        return answer;
    const Operands<P> at(d);
    const auto made =
        raised(h, [&](uint32_t& flags) { return G(h.f[at.rs1()].lane[0], h.f[at.rs2()].lane[0], flags); });
    if constexpr (TO_INTEGER)
        h.x[d.rd] = uint64_t(made);
    else
        put(h, at.rd(), made);
    return DONE;
}

template <class P, class I>
Answer to_integer(riscv::Hart<P>& h, const riscv::Decoded<P>& d) {
    if (const Answer answer = floating(h, d); answer.kind != Answer::done) return answer;
    const Operands<P> at(d);
    const unsigned mode = at.mode(h);
    if (mode > riscv::RMM) return riscv::ABSENT;
    const Bits a = h.f[at.rs1()].lane[0];
    const I made = raised(h, [&](uint32_t& flags) { return single::to_integer<I>(a, int(mode), flags); });
    h.x[d.rd] = uint64_t(int64_t(int32_t(made)));
    return DONE;
}

template <class P, class I>
Answer from_integer(riscv::Hart<P>& h, const riscv::Decoded<P>& d) {
    if (const Answer answer = floating(h, d); answer.kind != Answer::done) return answer;
    const Operands<P> at(d);
    const unsigned mode = at.mode(h);
    if (mode > riscv::RMM) return riscv::ABSENT;
    const I a = I(h.x[at.rs1()]);
    put(h, at.rd(), raised(h, [&](uint32_t& flags) { return single::from_integer<I>(a, int(mode), flags); }));
    return DONE;
}

template <class P>
Answer move_out(riscv::Hart<P>& h, const riscv::Decoded<P>& d) {
    if (const Answer answer = floating(h, d); answer.kind != Answer::done) [[unlikely]]
        return answer;
    h.x[d.rd] = uint64_t(int64_t(int32_t(h.f[Operands<P>(d).rs1()].lane[0])));
    return DONE;
}

template <class P>
Answer move_in(riscv::Hart<P>& h, const riscv::Decoded<P>& d) {
    if (const Answer answer = floating(h, d); answer.kind != Answer::done) [[unlikely]]
        return answer;
    put(h, Operands<P>(d).rd(), Bits(h.x[d.rs1]));
    return DONE;
}

template <class P>
Answer load(riscv::Hart<P>& h, const riscv::Decoded<P>& d) {
    if (const Answer answer = floating(h, d); answer.kind != Answer::done) [[unlikely]]
        return answer;
    uint64_t value = 0;
    const uint64_t address = h.x[d.rs1] + uint64_t(int64_t(int32_t(d.imm)) >> 20);
    const Answer answer = h.read(address, 4, value);
    if (answer.kind == Answer::done) put(h, Operands<P>(d).rd(), Bits(value));
    return answer;
}

template <class P>
Answer store(riscv::Hart<P>& h, const riscv::Decoded<P>& d) {
    if (const Answer answer = floating(h, d); answer.kind != Answer::done) [[unlikely]]
        return answer;
    const Operands<P> at(d);
    const int64_t offset = int64_t(int32_t(at.word & 0xfe000000)) >> 20 | int64_t(at.rd());
    return h.write(h.x[d.rs1] + uint64_t(offset), 4, h.f[at.rs2()].lane[0]);
}

template <class P>
Answer emulated(riscv::Hart<P>& h, const riscv::Decoded<P>& d) {
    if (const Answer answer = floating(h, d); answer.kind != Answer::done) return answer;
    return riscv::trap(riscv::exception(EMULATED), uint64_t(uint32_t(d.imm)));
}

template <Bits SET, bool FLIP>
constexpr auto signed_as = [](Bits a, Bits b, uint32_t&) -> Bits {
    return (a & ~Single::SIGN) | ((FLIP ? ~b : b) & Single::SIGN & SET) | ((a ^ b) & Single::SIGN & ~SET);
};

template <class P>
riscv::Action<P> step_of(Op op) {
    constexpr auto step = []<auto F>() { return riscv::custom_step<P, F>; };
    constexpr auto plus = [](float a, float b) { return a + b; };
    constexpr auto minus = [](float a, float b) { return a - b; };
    constexpr auto times = [](float a, float b) { return a * b; };
    constexpr auto classify = [](Bits a, Bits, uint32_t&) { return riscv::classify<Single>(a); };
    switch (op) {
        case Op::FLW: return step.template operator()<load<P>>();
        case Op::FSW: return step.template operator()<store<P>>();
        case Op::FMADD_S: return step.template operator()<fused<P, false, false>>();
        case Op::FMSUB_S: return step.template operator()<fused<P, false, true>>();
        case Op::FNMSUB_S: return step.template operator()<fused<P, true, false>>();
        case Op::FNMADD_S: return step.template operator()<fused<P, true, true>>();
        case Op::FADD_S: return step.template operator()<binary<P, single::add, plus>>();
        case Op::FSUB_S: return step.template operator()<binary<P, single::sub, minus>>();
        case Op::FMUL_S: return step.template operator()<binary<P, single::mul, times>>();
        case Op::FSGNJ_S: return step.template operator()<bits<P, false, signed_as<~0u, false>>>();
        case Op::FSGNJN_S: return step.template operator()<bits<P, false, signed_as<~0u, true>>>();
        case Op::FSGNJX_S: return step.template operator()<bits<P, false, signed_as<0u, false>>>();
        case Op::FMIN_S: return step.template operator()<bits<P, false, single::minimum>>();
        case Op::FMAX_S: return step.template operator()<bits<P, false, single::maximum>>();
        case Op::FEQ_S: return step.template operator()<bits<P, true, single::equal>>();
        case Op::FLT_S: return step.template operator()<bits<P, true, single::less>>();
        case Op::FLE_S: return step.template operator()<bits<P, true, single::less_or_equal>>();
        case Op::FCLASS_S: return step.template operator()<bits<P, true, classify>>();
        case Op::FCVT_W_S: return step.template operator()<to_integer<P, int32_t>>();
        case Op::FCVT_WU_S: return step.template operator()<to_integer<P, uint32_t>>();
        case Op::FCVT_S_W: return step.template operator()<from_integer<P, int32_t>>();
        case Op::FCVT_S_WU: return step.template operator()<from_integer<P, uint32_t>>();
        case Op::FMV_X_W: return step.template operator()<move_out<P>>();
        case Op::FMV_W_X: return step.template operator()<move_in<P>>();
        default: return step.template operator()<emulated<P>>();
    }
}

// The register files of an instruction, and its latency.
inline Need need_of(const riscv::Row& row, const Latencies& latencies) {
    constexpr uint8_t X = Need::X, F = Need::F, NONE = Need::NONE, NOWHERE = Need::NOWHERE;
    const auto vector = latencies.vector_float;
    const uint8_t to = row.writes_x ? X : F;
    switch (row.op) {
        case Op::FLW: return {F, X, NONE, NONE, latencies.load, 1, Need::plain};
        case Op::FSW: return {NOWHERE, X, F, NONE, 1, 1, Need::plain};
        case Op::FMADD_S:
        case Op::FMSUB_S:
        case Op::FNMSUB_S:
        case Op::FNMADD_S: return {F, F, F, F, vector, 1, Need::plain};
        case Op::FCVT_S_W:
        case Op::FCVT_S_WU:
        case Op::FMV_W_X: return {F, X, NONE, NONE, vector, 1, Need::plain};
        case Op::FCVT_W_S:
        case Op::FCVT_WU_S:
        case Op::FCLASS_S: return {to, F, NONE, NONE, vector, 1, Need::plain};
        case Op::FMV_X_W: return {to, F, NONE, NONE, latencies.vector_integer, 1, Need::plain};
        case Op::FSGNJ_S:
        case Op::FSGNJN_S:
        case Op::FSGNJX_S: return {to, F, F, NONE, latencies.vector_integer, 1, Need::plain};
        default: return {to, F, F, NONE, vector, 1, Need::plain};
    }
}

}  // namespace scalar

template <class P>
void add_floats(std::vector<riscv::Custom<P>>& rows, Needs& needs, const Latencies& latencies) {
    constexpr uint32_t SINGLE = 1u << 3;
    for (const riscv::Row& row : riscv::ROWS) {
        if (row.extensions != SINGLE || row.size != 4) continue;
        needs.custom[rows.size()] = scalar::need_of(row, latencies);
        rows.push_back({row.match, row.mask, scalar::step_of<P>(row.op), 4});
    }
}

}  // namespace polyloom::minion
