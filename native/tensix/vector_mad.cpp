// SPDX-License-Identifier: Apache-2.0
// The MAD sub-unit (facts §1.2): SFPMAD and its relatives, and the piecewise linear tables. Results come after two
// cycles.
#include "tensix/vector_multiply.hpp"
#include "tensix/vector_run.hpp"

namespace polyloom::tensix::vector {

namespace {

constexpr int LATENCY = 2;

Lanes filled(uint32_t value) {
    Lanes made;
    made.fill(value);
    return made;
}

// To VD, or in each lane to the register below L8 that the low four bits of L7 name.
void deliver(const Run& run, const Lanes& value, bool indirect) {
    if (!indirect || run.op.vd == 16) return run.write(value, LATENCY);
    const Lanes indices = run.at(7);
    for (uint32_t target = 0; target < 8; ++target) {
        const uint32_t lanes = run.lanes & where([=](uint32_t v) { return (v & 15) == target; }, indices);
        if (lanes) run.write(int(target), value, lanes, LATENCY);
    }
}

Lanes gathered(const Run& run) {
    Lanes made;
    for (int k = 0; k < LANES; ++k) made[k] = run.at(int(run.at(7)[k] & 15))[k];
    return made;
}

// Blackhole's bits 0 and 1 negate A and C.
void mad(const Run& run) {
    const bool blackhole = run.state.member == Member::Blackhole;
    const auto negated = [](uint32_t v) { return v ^ SIGN; };
    Lanes value, changed, subtracted;
    const Lanes *a = &run.at(run.op.va), *c = &run.at(run.op.vc);
    if (run.op.mod & 4) changed = gathered(run), a = &changed;
    if (blackhole && run.op.mod & 1) changed = each(negated, *a), a = &changed;
    if (blackhole && run.op.mod & 2) subtracted = each(negated, *c), c = &subtracted;
    multiply_add(run.state.member, *a, run.at(run.op.vb), *c, value);
    deliver(run, value, run.op.mod & 8);
}

// What the floating-point data path makes of an addend to a product of integers: it takes the addend for a float, the
// product for a fraction under the exponent 129, and carries half of bit 16 of what is lost into bit 16.
uint32_t shifted_in(uint32_t product, uint32_t addend) {
    const uint32_t exponent = addend >> 23 & 255, larger = exponent > 129 ? exponent : 129;
    if (!exponent) return product;
    const uint32_t whole = ((addend & FRACTION) | (FRACTION + 1)) << 3, away = (larger - exponent) & 31;
    const uint32_t kept = whole >> away, lost = whole ^ kept << away;
    product >>= (larger - 129) & 31;
    return kept ? (product + kept + (lost > 0xFFFF ? 0x10000 : 0)) & FRACTION : product;
}

// SFPMUL24: the lower or, with bit 0, the upper 23 bits of a product of 23 bits.
void integers(const Run& run) {
    if (run.op.mod & 2) run.fault("reserved-mode", "bit 1 of SFPMUL24's mode is reserved");
    const int shift = run.op.mod & 1 ? 23 : 0;
    const Lanes a = run.op.mod & 4 ? gathered(run) : run.at(run.op.va);
    const auto multiplied = [=](uint32_t x, uint32_t y, uint32_t z) {
        return shifted_in(uint32_t(uint64_t(x & FRACTION) * (y & FRACTION) >> shift) & FRACTION, z);
    };
    deliver(run, each(multiplied, a, run.at(run.op.vb), run.at(run.op.vc)), run.op.mod & 8);
}

void with_immediate(const Run& run) {
    const Lanes given = filled(uint32_t(run.op.immediate) << 16), &c = run.at(run.op.vc);
    Lanes value;
    if (run.op.code == Code::MulImmediate)
        multiply_add(run.state.member, given, c, run.at(9), value);
    else
        multiply_add(run.state.member, given, run.at(10), c, value);
    deliver(run, value, run.op.mod & 8);
}

// Tables are cut by |v|: below 1, below 2, and the rest, NaN included. Bit patterns order as their floats do.

constexpr uint32_t of_8_bits(uint32_t v) {
    return v == 255 ? 0 : (v & 128) << 24 | (127 - (v >> 4 & 7)) << 23 | (v & 15) << 19;
}

constexpr uint32_t of_16_bits(uint32_t v) {
    const uint32_t exponent = v >> 10 & 31;
    return (v & 0x8000) << 16 | (exponent == 31 ? 0 : exponent + 112) << 23 | (v & 0x3FF) << 13;
}

// Of three registers from `first` on, in each lane, the one of the third that |v| falls into.
Lanes entries(const Run& run, const Lanes& magnitude, int first) {
    const auto chosen = [](uint32_t b, uint32_t low, uint32_t middle, uint32_t high) {
        return b < 0x3F800000 ? low : b < 0x40000000 ? middle : high;
    };
    return each(chosen, magnitude, run.at(first), run.at(first + 1), run.at(first + 2));
}

struct Lines {
    Lanes slopes, offsets;
};

Lines narrow_lines(const Lanes& entry) {
    return {each([](uint32_t v) { return of_8_bits(v >> 8 & 255); }, entry),
            each([](uint32_t v) { return of_8_bits(v & 255); }, entry)};
}

// Modes 0, 2 and 3, and 10, which has three entries of two halves; 2 and 3 take the lower half below a third's middle.
Lines wide_lines(const Run& run, const Lanes& magnitude, const Lanes& entry) {
    const auto low = [](uint32_t v) { return of_16_bits(v & 0xFFFF); };
    const auto high = [](uint32_t v) { return of_16_bits(v >> 16); };
    if (!(run.op.mod & 2)) return {entry, entries(run, magnitude, 4)};
    if ((run.op.mod & 10) == 10) return {each(high, entry), each(low, entry)};
    const uint32_t last = run.op.mod & 1 ? 0x40800000 : 0x40400000;
    const auto half = [=](uint32_t b, uint32_t v) {
        const uint32_t cut = b < 0x3F800000 ? 0x3F000000 : b < 0x40000000 ? 0x3FC00000 : last;
        return of_16_bits(b < cut ? v & 0xFFFF : v >> 16);
    };
    return {each(half, magnitude, entry), each(half, magnitude, entries(run, magnitude, 4))};
}

}  // namespace

void run_multiply(const Run& run) {
    if (run.op.code == Code::MulImmediate || run.op.code == Code::AddImmediate) return with_immediate(run);
    if (run.op.code == Code::Mul24) return integers(run);
    mad(run);
}

void run_table(const Run& run) {
    const Lanes &input = run.at(3), magnitude = each([](uint32_t v) { return v & ~SIGN; }, input);
    const Lanes entry = entries(run, magnitude, 0);
    const Lines lines = run.op.code == Code::Lut ? narrow_lines(entry) : wide_lines(run, magnitude, entry);
    Lanes value;
    multiply_add(run.state.member, lines.slopes, magnitude, lines.offsets, value);
    if (run.op.mod & 4) value = each([](uint32_t v, uint32_t l3) { return (v & ~SIGN) | (l3 & SIGN); }, value, input);
    deliver(run, value, run.op.mod & 8);
}

}  // namespace polyloom::tensix::vector
