// SPDX-License-Identifier: Apache-2.0
// The simple sub-unit's arithmetic (facts §1.2): integers, bits, fields of floats, conversion of integers, SWAP and
// SFPTRANSP. Where an instruction also sets flags, it does so in its lanes and with a destination below L8 alone.
#include <bit>

#include "tensix/vector_run.hpp"

namespace polyloom::tensix::vector {

namespace {

void flag(const Run& run, uint32_t holds) {
    Flags& flags = run.vector().flags;
    flags.set = (flags.set & ~run.lanes) | (holds & run.lanes);
}

uint32_t negative(const Lanes& value) {
    return where([](uint32_t v) { return v >> 31; }, value);
}

constexpr uint32_t shifted(uint32_t value, int32_t by) {
    return by >= 0 ? value << (by & 31) : value >> (-uint32_t(by) & 31);
}

void shift(const Run& run) {
    const bool blackhole = run.state.member == Member::Blackhole, by_immediate = run.op.mod & 1;
    if (blackhole && (run.op.mod > 7 || run.op.mod == 4 || run.op.mod == 6))
        run.fault("reserved-mode", "this mode of SFPSHFT is reserved");
    const bool arithmetic = blackhole && run.op.mod & 2, from_c = blackhole && by_immediate && run.op.mod & 4;
    const int32_t immediate = run.op.immediate;
    const Lanes& value = run.at(from_c ? run.op.vc : run.op.vb);
    run.write(each(
        [=](uint32_t v, uint32_t c) {
            const int32_t by = by_immediate ? immediate : int32_t(c);
            return arithmetic && by < 0 ? uint32_t(int32_t(v) >> (-uint32_t(by) & 31)) : shifted(v, by);
        },
        value, run.at(run.op.vc)));
}

void add(const Run& run) {
    const Lanes &b = run.at(run.op.vb), &c = run.at(run.op.vc);
    const uint32_t immediate = uint32_t(run.op.immediate);
    const Lanes sum = run.op.mod & 1   ? each([=](uint32_t v) { return v + immediate; }, c)
                      : run.op.mod & 2 ? each([](uint32_t v, uint32_t w) { return w - v; }, b, c)
                                       : each([](uint32_t v, uint32_t w) { return v + w; }, b, c);
    run.write(sum);
    if (run.op.vd >= 8) return;
    uint32_t holds = run.op.mod & 4 ? run.vector().flags.set : negative(sum);
    if (run.op.mod & 8) holds = ~holds;
    flag(run, holds);
}

void exponent(const Run& run) {
    const uint32_t bias = run.op.mod & 1 ? 0 : 127;
    const Lanes made = each([=](uint32_t v) { return (v >> 23 & 255) - bias; }, run.at(run.op.vc));
    run.write(made);
    if (run.op.vd >= 8) return;
    uint32_t holds = run.op.mod & 2 ? negative(made) : run.vector().flags.set;
    if (run.op.mod & 8) holds = ~holds;
    flag(run, holds);
}

void leading_zeros(const Run& run) {
    const uint32_t mask = run.op.mod & 4 ? ~SIGN : ALL;
    const Lanes c = run.at(run.op.vc);
    run.write(each([=](uint32_t v) { return uint32_t(std::countl_zero(v & mask)); }, c));
    if (run.op.vd >= 8) return;
    uint32_t holds = run.op.mod & 2 ? where([=](uint32_t v) { return (v & mask) != 0; }, c) : run.vector().flags.set;
    if (run.op.mod & 8) holds = ~holds;
    flag(run, holds);
}

constexpr uint32_t absolute(uint32_t v) { return int32_t(v) < 0 ? 0 - v : v; }

void magnitude(const Run& run) {
    const Lanes& c = run.at(run.op.vc);
    run.write(run.op.mod & 1 ? each([](uint32_t v) { return v > 0xFF800000 ? v : v & ~SIGN; }, c) : each(absolute, c));
}

void divide_by_power(const Run& run) {
    const uint32_t given = uint32_t(run.op.immediate);
    const bool adds = run.op.mod & 1;
    run.write(each(
        [=](uint32_t v) {
            const uint32_t old = v >> 23 & 255, made = adds ? old == 255 ? old : (old + given) & 255 : given;
            return (v & (SIGN | FRACTION)) | made << 23;
        },
        run.at(run.op.vc)));
}

void set_exponent(const Run& run) {
    const uint32_t given = uint32_t(run.op.immediate), mode = run.op.mod & 1 ? 1 : run.op.mod & 2;
    run.write(each(
        [=](uint32_t b, uint32_t c) {
            const uint32_t made = mode == 1 ? given : mode == 2 ? b >> 23 & 255 : b & 255;
            return (c & (SIGN | FRACTION)) | made << 23;
        },
        run.at(run.op.vb), run.at(run.op.vc)));
}

void set_mantissa(const Run& run) {
    const uint32_t given = uint32_t(run.op.immediate) << 11;
    const bool immediate = run.op.mod & 1;
    run.write(each([=](uint32_t b, uint32_t c) { return (c & ~FRACTION) | ((immediate ? given : b) & FRACTION); },
                   run.at(run.op.vb), run.at(run.op.vc)));
}

void set_sign(const Run& run) {
    const uint32_t given = uint32_t(run.op.immediate & 1) << 31;
    const bool immediate = run.op.mod & 1;
    run.write(each([=](uint32_t b, uint32_t c) { return (c & ~SIGN) | (immediate ? given : b & SIGN); },
                   run.at(run.op.vb), run.at(run.op.vc)));
}

// Of 31 bits of magnitude 24 stay: to nearest, ties to even, or up with a chance.
uint32_t floated(uint32_t value, uint32_t random, bool stochastic) {
    const uint32_t mantissa = value & ~SIGN, sign = value & SIGN;
    if (!mantissa) return sign;
    const uint32_t zeros = uint32_t(std::countl_zero(mantissa)), normal = mantissa << zeros;
    const uint32_t made = sign + ((157 - zeros) << 23) + (normal >> 8);
    const bool up = stochastic ? (normal & 0xFE) > (random >> 9 & 0xFE) : normal & 0x80 && normal & 0x17F;
    return made + up;
}

void cast(const Run& run) {
    const int mode = run.state.member == Member::Blackhole ? run.op.mod : run.op.mod & 1;
    const Lanes& c = run.at(run.op.vc);
    if (mode > 3) run.fault("reserved-mode", "this mode of SFPCAST is reserved");
    if (mode == 2) return run.write(each(absolute, c));
    if (mode == 3) return run.write(each([](uint32_t v) { return (v & SIGN) | absolute(v); }, c));
    const Lanes random = mode ? drawn(run.vector(), run.lanes) : Lanes{};
    run.write(each([=](uint32_t v, uint32_t r) { return floated(v, r, mode); }, c, random));
}

// In each column, element i of row j of four registers is exchanged with element j of row i.
void transpose(const Run& run) {
    for (int base = 0; base < 8; base += 4) {
        std::array<Lanes, 4> made;
        for (int i = 0; i < 4; ++i)
            for (int j = 0; j < ROWS; ++j)
                std::memcpy(&made[i][j * COLUMNS], &run.at(base + j)[i * COLUMNS], COLUMNS * sizeof(uint32_t));
        for (int i = 0; i < 4; ++i) run.write(base + i, made[i], run.lanes);
    }
}

// AND and OR of Blackhole have a second operand of their own with mode 1.
const Lanes& other(const Run& run) {
    if (run.state.member == Member::Blackhole && run.op.mod & 1) return run.at(run.op.immediate & 15);
    return run.at(run.op.vb);
}

}  // namespace

void run_simple(const Run& run) {
    const Lanes& c = run.at(run.op.vc);
    switch (run.op.code) {
        case Code::And: return run.write(each([](uint32_t v, uint32_t w) { return v & w; }, other(run), c));
        case Code::Or: return run.write(each([](uint32_t v, uint32_t w) { return v | w; }, other(run), c));
        case Code::Xor: return run.write(each([](uint32_t v, uint32_t w) { return v ^ w; }, run.at(run.op.vb), c));
        case Code::Not: return run.write(each([](uint32_t v) { return ~v; }, c));
        case Code::Shift: return shift(run);
        case Code::IAdd: return writable(run.op.vd) ? add(run) : void();
        case Code::ExExp: return writable(run.op.vd) ? exponent(run) : void();
        case Code::LeadingZeros: return writable(run.op.vd) ? leading_zeros(run) : void();
        case Code::ExMan: {
            const uint32_t hidden = run.op.mod & 1 ? 0 : FRACTION + 1;
            return run.write(each([=](uint32_t v) { return hidden + (v & FRACTION); }, c));
        }
        case Code::Abs: return magnitude(run);
        case Code::DivP2: return divide_by_power(run);
        case Code::SetExp: return set_exponent(run);
        case Code::SetMan: return set_mantissa(run);
        case Code::SetSign: return set_sign(run);
        case Code::Cast: return cast(run);
        default: return transpose(run);
    }
}

// The lanes in which VD gets the smaller value, by mode from 1. In none with 9, which Blackhole's pages name, and 15,
// of which the vendor's conversions of types make a maximum.
void run_swap(const Run& run) {
    constexpr uint32_t MINIMUM[] = {0, ALL, 0xFFFF, 0xFF00FF, 0xFF0000FF, 0xFF, 0xFF00, 0xFF0000, 0xFF000000, 0};
    const int mode = run.op.mod == 15 ? 9 : run.op.mod;
    if (mode > 9) run.fault("reserved-mode", "this mode of SFPSWAP is reserved");
    // SFPLOADMACRO gives the simple sub-unit its B, which is D otherwise; where it also makes C and D one register, C's
    // value stays, as the vendor's clamping macro of the exponential needs it.
    const Lanes c = run.at(run.op.vc), d = run.at(run.op.vb);
    uint32_t swaps = ALL;
    if (mode) {
        swaps = where([](uint32_t v, uint32_t w) { return ordered(v) < ordered(w); }, c, d) ^ ~MINIMUM[mode];
        swaps ^= configured(run.vector(), INVERTED_SWAP);
    }
    swaps &= run.lanes;
    // Columns that move indices along have L4 to L7 for them, and write no other register above L3.
    const uint32_t with_index = configured(run.vector(), WITH_INDEX) & swaps, plain = swaps & ~with_index;
    if (writable(run.op.vd)) run.write(run.op.vd, c, run.op.vd < 4 ? swaps : plain, 2);
    if (run.op.vc < 8) run.write(run.op.vc, d, run.op.vc < 4 ? swaps : plain, 2);
    if (!with_index) return;
    const int ca = 4 + (run.op.vc & 3), da = 4 + (run.op.vd & 3);
    const Lanes was_c = run.at(ca), was_d = run.at(da);
    run.write(ca, was_d, with_index, 2), run.write(da, was_c, with_index, 2);
}

}  // namespace polyloom::tensix::vector
