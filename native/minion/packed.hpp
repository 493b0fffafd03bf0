// SPDX-License-Identifier: Apache-2.0
// What packed instructions do to registers, as functions over a hart of core.hpp. Every one works under the mask m0:
// lanes that are off keep their values and raise nothing. Source: ET Programmer's Reference Manual, chapters 4 to 6.
#pragma once

#include <bit>

#include "control.hpp"
#include "core.hpp"
#include "packed_float.hpp"
#include "packed_wide.hpp"
#include "riscv/steps.hpp"

namespace polyloom::minion::packed {

using riscv::ABSENT;
using riscv::Decoded;
using riscv::DONE;
using riscv::Hart;
using riscv::Single;

constexpr unsigned LANES = 8;
constexpr uint8_t ALL = 0xff;

// Fields of the word. The decoder calls register 0 of a destination "32", which is right for x registers only.
template <class P>
struct Fields {
    explicit Fields(const Decoded<P>& d) : word(uint32_t(d.imm)) {}
    [[nodiscard]] unsigned rd() const { return word >> 7 & 31; }
    [[nodiscard]] unsigned rs1() const { return word >> 15 & 31; }
    [[nodiscard]] unsigned rs2() const { return word >> 20 & 31; }
    [[nodiscard]] unsigned rs3() const { return word >> 27; }
    [[nodiscard]] unsigned mode(const Hart<P>& h) const {
        const unsigned named = word >> 12 & 7;
        return named == 7 ? h.rounding : named;
    }
    [[nodiscard]] uint32_t byte() const { return (word >> 12 & 7) | (word >> 17 & 0xf8); }
    [[nodiscard]] int32_t immediate10() const { return int32_t(word & 0xf8000000) >> 22 | int32_t(word >> 20 & 31); }
    uint32_t word;
};

template <class P>
uint8_t mask(const Hart<P>& h) {
    return h.state.hart->m[0];
}

template <class P>
void raise(Hart<P>& h, uint32_t flags) {
    h.flags |= flags_kept(flags);
}

// Puts `made` where the mask is on.
template <class P>
void merge(Hart<P>& h, unsigned number, const Register& made) {
    const uint8_t on = mask(h);
    Register& to = h.f[number];
    if (on == ALL) [[likely]] {
        to = made;
        return;
    }
    for (unsigned e = 0; e < LANES; ++e)
        if (on >> e & 1) to.lane[e] = made.lane[e];
}

#define POLYLOOM_FLOATING                                                                                 \
    if (const Answer floating_answer = floating(h, d); floating_answer.kind != Answer::done) [[unlikely]] \
    return floating_answer

// A function of up to three lanes' bits without flags. One operand more costs nothing.
template <class P, auto G>
Answer integer(Hart<P>& h, const Decoded<P>& d) {
    POLYLOOM_FLOATING;
    const Fields<P> at(d);
    const Register &a = h.f[at.rs1()], &b = h.f[at.rs2()];
    Register made;
    for (unsigned e = 0; e < LANES; ++e) made.lane[e] = G(a.lane[e], b.lane[e]);
    merge(h, at.rd(), made);
    return DONE;
}

// The second operand is a number of the word: the shift where rs2 stands, or ten bits.
template <class P, auto G, bool WIDE>
Answer immediate(Hart<P>& h, const Decoded<P>& d) {
    POLYLOOM_FLOATING;
    const Fields<P> at(d);
    const uint32_t b = WIDE ? uint32_t(at.immediate10()) : at.rs2();
    const Register& a = h.f[at.rs1()];
    Register made;
    for (unsigned e = 0; e < LANES; ++e) made.lane[e] = G(a.lane[e], b);
    merge(h, at.rd(), made);
    return DONE;
}

// The same word in every lane.
template <class P>
Answer broadcast(Hart<P>& h, unsigned number, uint32_t value) {
    Register made;
    for (uint32_t& lane : made.lane) lane = value;
    merge(h, number, made);
    return DONE;
}

template <class P>
Answer broadcast_x(Hart<P>& h, const Decoded<P>& d) {
    POLYLOOM_FLOATING;
    const Fields<P> at(d);
    return broadcast(h, at.rd(), uint32_t(h.x[at.rs1()]));
}

// 20 bits at the top; a float repeats the last four of them below, the last time one greater from 8 on.
template <class P, bool FLOAT>
Answer broadcast_immediate(Hart<P>& h, const Decoded<P>& d) {
    POLYLOOM_FLOATING;
    const Fields<P> at(d);
    if constexpr (!FLOAT) return broadcast(h, at.rd(), uint32_t(int32_t(at.word) >> 12));
    const uint32_t last = at.word >> 12 & 15;
    return broadcast(h, at.rd(), (at.word & 0xfffff000) | last << 8 | last << 4 | (last + (last >> 3)));
}

// Lanes that are on, where EXACT is a function of operands, rounding mode and flags: all at once where the host can.
template <class P, Wide OPERATION, auto EXACT, class... R>
void rounded_lanes(Hart<P>& h, unsigned to, int mode, const R&... from) {
    const uint8_t on = mask(h);
    const uint32_t* operands[] = {from.lane..., from.lane...};
    uint32_t flags = 0;
    Register made;
    const bool nx = h.flags & riscv::NX;
    if (mode != riscv::RNE || !wide(OPERATION, on, nx, operands[0], operands[1], operands[2], made.lane, flags))
        for (unsigned e = 0; e < LANES; ++e)
            if (on >> e & 1) made.lane[e] = EXACT(from.lane[e]..., mode, flags);
    raise(h, flags);
    merge(h, to, made);
}

template <class P, Wide OPERATION, auto EXACT>
Answer binary(Hart<P>& h, const Decoded<P>& d) {
    POLYLOOM_FLOATING;
    const Fields<P> at(d);
    const unsigned mode = at.mode(h);
    if (mode > riscv::RMM) return ABSENT;
    rounded_lanes<P, OPERATION, EXACT>(h, at.rd(), int(mode), h.f[at.rs1()], h.f[at.rs2()]);
    return DONE;
}

inline Register negated(Register a) {
    for (uint32_t& lane : a.lane) lane = Single::is_nan(lane) ? lane : lane ^ Single::SIGN;
    return a;
}

// +-(rs1 * rs2) +- rs3: whether the product and the addend change their signs.
template <class P, bool PRODUCT, bool ADDEND>
Answer fused(Hart<P>& h, const Decoded<P>& d) {
    POLYLOOM_FLOATING;
    const Fields<P> at(d);
    const unsigned mode = at.mode(h);
    if (mode > riscv::RMM) return ABSENT;
    const Register a = PRODUCT ? negated(h.f[at.rs1()]) : h.f[at.rs1()];
    const Register c = ADDEND ? negated(h.f[at.rs3()]) : h.f[at.rs3()];
    rounded_lanes<P, Wide::fma, single::fma>(h, at.rd(), int(mode), a, h.f[at.rs2()], c);
    return DONE;
}

// A function of two lanes' bits, and flags; to a float, or to lanes of ones where it holds.
template <class P, bool TEST, auto G>
Answer lanes(Hart<P>& h, const Decoded<P>& d) {
    POLYLOOM_FLOATING;
    const Fields<P> at(d);
    const Register &a = h.f[at.rs1()], &b = h.f[at.rs2()];
    const uint8_t on = mask(h);
    uint32_t flags = 0;
    Register made{};
    for (unsigned e = 0; e < LANES; ++e)
        if (on >> e & 1) {
            const auto result = G(a.lane[e], b.lane[e], flags);
            made.lane[e] = TEST ? 0u - uint32_t(result) : uint32_t(result);
        }
    raise(h, flags);
    merge(h, at.rd(), made);
    return DONE;
}

// A function of one lane, a rounding mode and flags; the mode is the word's, or that of frm.
template <class P, bool NAMED, auto G>
Answer converted(Hart<P>& h, const Decoded<P>& d) {
    POLYLOOM_FLOATING;
    const Fields<P> at(d);
    const unsigned mode = NAMED ? at.mode(h) : h.rounding;
    if (mode > riscv::RMM) return ABSENT;
    const Register& a = h.f[at.rs1()];
    const uint8_t on = mask(h);
    uint32_t flags = 0;
    Register made{};
    for (unsigned e = 0; e < LANES; ++e)
        if (on >> e & 1) made.lane[e] = G(a.lane[e], int(mode), flags);
    raise(h, flags);
    merge(h, at.rd(), made);
    return DONE;
}

// The conversions of graphics, which the ESR minion_feature can turn off.
constexpr uint64_t NO_GRAPHICS = 1;
template <class P, auto F>
Answer graphics(Hart<P>& h, const Decoded<P>& d) {
    return off(h.state, NO_GRAPHICS) ? ABSENT : F(h, d);
}

// Comparisons to a mask register: bits of lanes that are off keep their values.
template <class P, auto G>
Answer to_mask(Hart<P>& h, const Decoded<P>& d) {
    POLYLOOM_FLOATING;
    const Fields<P> at(d);
    const Register &a = h.f[at.rs1()], &b = h.f[at.rs2()];
    const uint8_t on = mask(h);
    uint32_t flags = 0;
    unsigned made = 0;
    for (unsigned e = 0; e < LANES; ++e)
        if (on >> e & 1) made |= unsigned(bool(G(a.lane[e], b.lane[e], flags))) << e;
    raise(h, flags);
    uint8_t& to = h.state.hart->m[at.rd() & 7];
    to = uint8_t((to & ~on) | made);
    return DONE;
}

// Moves between lanes: SOURCE tells of a lane and the word which lane of rs1 it gets.
template <class P, auto SOURCE>
Answer shuffled(Hart<P>& h, const Decoded<P>& d) {
    POLYLOOM_FLOATING;
    const Fields<P> at(d);
    const Register a = h.f[at.rs1()];
    Register made;
    for (unsigned e = 0; e < LANES; ++e) made.lane[e] = SOURCE(a, e, at.byte());
    merge(h, at.rd(), made);
    return DONE;
}

template <class P>
Answer chosen(Hart<P>& h, const Decoded<P>& d) {
    POLYLOOM_FLOATING;
    const Fields<P> at(d);
    const Register &a = h.f[at.rs1()], &b = h.f[at.rs2()], &c = h.f[at.rs3()];
    Register made;
    for (unsigned e = 0; e < LANES; ++e) made.lane[e] = a.lane[e] ? b.lane[e] : c.lane[e];
    merge(h, at.rd(), made);
    return DONE;
}

// All lanes: by the mask from rs1, else from rs2.
template <class P>
Answer chosen_by_mask(Hart<P>& h, const Decoded<P>& d) {
    POLYLOOM_FLOATING;
    const Fields<P> at(d);
    const Register a = h.f[at.rs1()], b = h.f[at.rs2()];
    const uint8_t on = mask(h);
    for (unsigned e = 0; e < LANES; ++e) h.f[at.rd()].lane[e] = on >> e & 1 ? a.lane[e] : b.lane[e];
    return DONE;
}

template <class P, bool SIGNED>
Answer move_lane(Hart<P>& h, const Decoded<P>& d) {
    POLYLOOM_FLOATING;
    const Fields<P> at(d);
    const uint32_t value = h.f[at.rs1()].lane[at.rs2() & 7];
    h.x[d.rd] = SIGNED ? uint64_t(int64_t(int32_t(value))) : value;
    return DONE;
}

// Mask registers.
template <class P, auto G>
Answer masks(Hart<P>& h, const Decoded<P>& d) {
    POLYLOOM_FLOATING;
    const Fields<P> at(d);
    auto& m = h.state.hart->m;
    m[at.rd() & 7] = uint8_t(G(m[at.rs1() & 7], m[at.rs2() & 7]));
    return DONE;
}

template <class P>
Answer mask_of_x(Hart<P>& h, const Decoded<P>& d) {
    POLYLOOM_FLOATING;
    const Fields<P> at(d);
    h.state.hart->m[at.rd() & 7] = uint8_t(uint32_t(h.x[at.rs1()]) | at.byte());
    return DONE;
}

template <class P>
Answer masks_of_x(Hart<P>& h, const Decoded<P>& d) {
    POLYLOOM_FLOATING;
    const uint64_t value = h.x[Fields<P>(d).rs1()];
    for (unsigned n = 0; n < 8; ++n) h.state.hart->m[n] = uint8_t(value >> 8 * n);
    return DONE;
}

template <class P>
Answer x_of_masks(Hart<P>& h, const Decoded<P>& d) {
    POLYLOOM_FLOATING;
    uint64_t made = 0;
    for (unsigned n = 0; n < 8; ++n) made |= uint64_t(h.state.hart->m[n]) << 8 * n;
    h.x[d.rd] = made;
    return DONE;
}

template <class P, bool ZEROS>
Answer count_mask(Hart<P>& h, const Decoded<P>& d) {
    POLYLOOM_FLOATING;
    const uint8_t m = h.state.hart->m[Fields<P>(d).rs1() & 7];
    h.x[d.rd] = unsigned(std::popcount(ZEROS ? uint8_t(~m) : m));
    return DONE;
}

// Integer registers: bytes side by side, and bits of two bytes mixed by a third word.
template <class P>
Answer pack_bytes(Hart<P>& h, const Decoded<P>& d) {
    h.x[d.rd] = (h.x[d.rs1] & 0xff) | (h.x[d.rs2] & 0xff) << 8;
    return DONE;
}

template <class P>
Answer mix_bits(Hart<P>& h, const Decoded<P>& d) {
    const uint64_t select = h.x[d.rs1];
    uint64_t zeros = h.x[d.rs2] & 0xffff, ones = h.x[d.rs2] >> 8 & 0xffff;
    uint64_t made = 0;
    for (unsigned bit = 0; bit < 16; ++bit) {
        uint64_t& from = select >> bit & 1 ? ones : zeros;
        made |= uint64_t(from & 1) << bit;
        from >>= 1;
    }
    h.x[d.rd] = made;
    return DONE;
}

// What the machine leaves to software. Source: facts §2.
template <class P>
Answer emulated(Hart<P>&, const Decoded<P>& d) {
    constexpr unsigned EMULATION = 30;
    return riscv::trap(riscv::exception(EMULATION), uint64_t(uint32_t(d.imm)));
}

}  // namespace polyloom::minion::packed
