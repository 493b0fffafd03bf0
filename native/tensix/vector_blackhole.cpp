// SPDX-License-Identifier: Apache-2.0
// What Blackhole's vector unit has beyond Wormhole's, but for SFPMUL24: comparisons of two registers, and an
// approximate reciprocal or exponential. Sources: the public pages of these instructions.
#include <bit>
#include <cmath>

#include "tensix/vector.hpp"
#include "tensix/vector_run.hpp"

namespace polyloom::tensix::vector {

namespace {

void compare(const Run& run) {
    VectorState& vector = run.vector();
    uint32_t holds =
        where([](uint32_t d, uint32_t c) { return ordered(c) < ordered(d); }, run.at(run.op.vb), run.at(run.op.vc));
    if (run.op.code == Code::LessEqual) holds = ~holds;
    if (run.op.mod & 8) {
        Lanes value;
        for (int k = 0; k < LANES; ++k) value[k] = holds >> k & 1 ? ALL : 0;
        run.write(value);
    }
    if (run.op.mod & 1) vector.flags.set = (vector.flags.set & ~run.lanes) | (holds & run.lanes);
    if (!(run.op.mod & 2) || !vector.depth) return;
    uint32_t& top = vector.stack[size_t(vector.depth - 1)].set;
    top = run.op.mod & 4 ? top | holds : top & holds;
}

// Both take |x|. The sign returns but in mode 1, which leaves x where B is not negative.
void reciprocal(const Run& run) {
    if (run.op.mod > 1)
        return run.write(
            each([](uint32_t c) { return (c & SIGN) | approximate_exponential(c & ~SIGN); }, run.at(run.op.vc)));
    const bool conditional = run.op.mod == 1;
    run.write(each(
        [=](uint32_t b, uint32_t c) {
            if (conditional) return int32_t(b) < 0 ? approximate_reciprocal(c & ~SIGN) : c;
            return (c & SIGN) | approximate_reciprocal(c & ~SIGN);
        },
        run.at(run.op.vb), run.at(run.op.vc)));
}

}  // namespace

// Seven bits of mantissa of 1/x, of the middle of an interval of x, rounded; 0 and infinity beyond the exponents.
uint32_t approximate_reciprocal(uint32_t magnitude) {
    if (magnitude < 0x00800000) return 0x7F800000;
    if (magnitude >= 0x7E800000) return 0;
    // 2 / (1 + (i + 1/2) / 128) = 512 / (257 + 2 i), less one, in units of 1/128, half added.
    const uint32_t divisor = 257 + 2 * (magnitude >> 16 & 127);
    const uint32_t mantissa = (2 * 128 * 512 + divisor) / (2 * divisor) - 128;
    return (253 - (magnitude >> 23)) << 23 | mantissa << 16;
}

// The lower half of x stays; the upper one is that of e to the x without its lower half, cut off. The hardware has a
// table for magnitudes from 1/64 to 2, of which each entry is what this computes.
uint32_t approximate_exponential(uint32_t magnitude) {
    constexpr uint32_t ONE = 0x3F800000, TABLE = 0x3C800000, TWO = 0x40000000, HIGH = 0xFFFF0000;
    if (magnitude < 0x00800000) return ONE;
    if (magnitude < TABLE) return 0x3F810000 | (magnitude & ~HIGH);
    if (magnitude >= TWO) return 0x40800000 | (magnitude & ~HIGH);
    const double power = std::exp(double(std::bit_cast<float>(magnitude & HIGH)));
    const uint64_t bits = std::bit_cast<uint64_t>(power);
    const uint32_t exponent = uint32_t(bits >> 52) - 1023 + 127, mantissa = uint32_t(bits >> (52 - 7) & 127);
    return exponent << 23 | mantissa << 16 | (magnitude & ~HIGH);
}

void run_blackhole(const Run& run) {
    switch (run.op.code) {
        case Code::Reciprocal: return reciprocal(run);
        default: return compare(run);
    }
}

}  // namespace polyloom::tensix::vector
