// SPDX-License-Identifier: Apache-2.0
// Operands of a sweep: all of them in order, or random ones, each a function of its number (a counter-based generator, as
// in Salmon et al., Parallel random numbers: as easy as 1, 2, 3, 2011), so that a found difference can be made again.
#pragma once
#include <algorithm>

#include "reference.h"

// A permutation of all words (the finalizer of MurmurHash3, Appleby, 2011).
inline uint32_t mix(uint32_t word) {
    word = (word ^ word >> 16) * 0x85ebca6bu;
    word = (word ^ word >> 13) * 0xc2b2ae35u;
    return word ^ word >> 16;
}

inline uint32_t random_word(uint32_t number, uint32_t stream) { return mix(mix(number) ^ stream * 0x9e3779b9u); }

// Every combination of operands with `places` bits each, the last operand counting first, and their slices: those of the
// 8 lowest bits of the number are the same in every block, all others are 0 or all ones.
inline void count_operands(uint64_t first, int operands, int places, Block* blocks, Slice (*slices)[32]) {
    static const struct Patterns {
        Slice slices[32];
        Patterns() {
            Block numbers;
            for (int n = 0; n < COUNT; ++n) numbers.words[n] = n;
            slices_of(numbers, slices);
        }
    } patterns;
    for (int operand = 0; operand < operands; ++operand) {
        const int shift = (operands - 1 - operand) * places;
        for (int n = 0; n < COUNT; ++n) blocks[operand].words[n] = (first + n) >> shift & ((1ull << places) - 1);
        for (int bit = 0; bit < places; ++bit)
            slices[operand][bit] = bit + shift < 8 ? patterns.slices[bit + shift] : Slice{} - (first >> (bit + shift) & 1);
    }
}

// Zeros, subnormals, the numbers around powers of two, the greatest numbers, infinities and NaNs.
inline uint32_t corner(uint32_t random) {
    constexpr uint32_t ONE = uint32_t(BIAS) << MAN, NORMAL = 1u << MAN;
    static constexpr uint32_t MAGNITUDES[16] = {
        0, 1, 2, NORMAL - 1, NORMAL, NORMAL + 1, ONE - 1, ONE, ONE + 1, ONE + NORMAL / 2, ONE + NORMAL - 1,
        INFINITE - 1, INFINITE, INFINITE + 1, QUIET, SIGN - 1,
    };
    return MAGNITUDES[random & 15] | (random & 16 ? SIGN : 0);
}

// An exponent near that of `word`, or so that a product or quotient with it is near the least or the greatest numbers;
// of a half the fractions most low bits are 0, which makes ties.
inline uint32_t near_word(uint32_t word, uint32_t fraction, uint32_t choice) {
    constexpr int SPAN = MAN > 15 ? 32 : 16, GREATEST = (1 << EXP) - 2;
    const int field = int(word >> MAN & ((1 << EXP) - 1)), kind = int(choice & 7), multiple = (kind >> 1) * BIAS;
    const int base = kind > 5 ? field : kind & 1 ? multiple - field + BIAS : multiple - BIAS + field;
    const int moved = base + int(choice >> 3 & (2 * SPAN - 1)) - SPAN, bounded = std::clamp(moved, 0, GREATEST);
    const uint32_t zeros = choice & 1 << 10 ? std::min(choice >> 11 & 31, uint32_t(MAN)) : 0;
    return (fraction & (SIGN | (SIGN - 1 & ~INFINITE & ~0u << zeros))) | uint32_t(bounded) << MAN;
}

// Random triples: three of eight are any words, two have exponents near each other, two cancel: the second is near the
// negative of the first, the third near that of the product of the first two; one has corners.
inline void random_operands(uint32_t seed, uint64_t first, int operands, Block* blocks) {
    uint32_t *a = blocks[0].words, *b = blocks[1].words, *c = blocks[2].words;
    alignas(32) uint32_t choices[COUNT], product[COUNT];
    for (int n = 0; n < COUNT; ++n) {
        const uint32_t number = uint32_t(first) + n, choice = random_word(number, seed + 3), kind = choice & 7;
        const uint32_t others = mix(choice), x = random_word(number, seed) & (2 * SIGN - 1);
        const uint32_t y = random_word(number, seed + 1) & (2 * SIGN - 1);
        const uint32_t fraction = kind == 3 ? near_word(x, x, others) : x;
        const uint32_t near = near_word(x, y, others >> 1), step = (others & 7) - 3;
        // Looked up whether used or not, so that loops have no branches.
        const uint32_t first_corner = corner(others), second_corner = corner(others >> 5);
        const uint32_t close = kind == 5 ? (x ^ SIGN) + step : kind > 2 ? near : y;
        a[n] = kind == 7 && choice & 8 ? first_corner : fraction;
        b[n] = (kind == 7 && choice & 16 ? second_corner : kind == 7 ? y : close) & (2 * SIGN - 1);
        choices[n] = choice;
    }
    if (operands < 3) return;
    reference(3, false, a, b, b, product);
    for (int n = 0; n < COUNT; ++n) {
        const uint32_t choice = choices[n], kind = choice & 7, others = mix(choice + 1);
        const uint32_t z = random_word(uint32_t(first) + n, seed + 2) & (2 * SIGN - 1), step = (others & 3) - 1;
        const uint32_t near = near_word(product[n], z, others | 6), third_corner = corner(others >> 10);
        const uint32_t close = kind > 4 ? (product[n] ^ SIGN) + step : kind > 2 ? near : z;
        c[n] = (kind == 7 && choice & 32 ? third_corner : kind == 7 ? z : close) & (2 * SIGN - 1);
    }
}
