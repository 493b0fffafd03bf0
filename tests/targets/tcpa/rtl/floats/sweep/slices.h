// SPDX-License-Identifier: Apache-2.0
// Bit slices (Biham, A fast new DES implementation in software, 1997): bit i of 256 words is one vector, so that a
// gate is one instruction for all of them.
#pragma once
#include <cstdint>
#include <cstring>

// Vectors of GCC and Clang; without AVX2 the compiler makes two instructions of one.
typedef uint64_t Slice __attribute__((vector_size(32)));
typedef uint32_t Lanes __attribute__((vector_size(32)));

constexpr int COUNT = 256;

struct Block {
    alignas(32) uint32_t words[COUNT];
};

// Exchanges blocks of J x J bits beside the diagonal.
template <int J, uint32_t MASK>
inline void exchange(Lanes* matrix) {
    for (int block = 0; block < 32; block += 2 * J)
        for (int k = block; k < block + J; ++k) {
            const Lanes moved = ((matrix[k] >> J) ^ matrix[k + J]) & MASK;
            matrix[k] ^= moved << J;
            matrix[k + J] ^= moved;
        }
}

// Words to slices, and slices to words: 8 bit matrices of 32 x 32 side by side (Warren, Hacker's Delight, 2nd ed., 7-3).
// Bit b of lane l in slice i is bit i of word 8 * b + l.
inline void transpose(Lanes* matrix) {
    exchange<16, 0xffff>(matrix);
    exchange<8, 0xff00ff>(matrix);
    exchange<4, 0xf0f0f0f>(matrix);
    exchange<2, 0x33333333>(matrix);
    exchange<1, 0x55555555>(matrix);
}

inline void slices_of(const Block& block, Slice* slices) {
    std::memcpy(slices, block.words, sizeof(Block));
    transpose(reinterpret_cast<Lanes*>(slices));
}

// A circuit: 32 slices of each operand to 32 of the result.
typedef void Circuit(const Slice* a, const Slice* b, const Slice* c, Slice* result);

struct Operation {
    const char* name;
    int number;
    bool is_signed;
    int operands;
    Circuit* circuit;
};

extern const Operation operations[];
extern const int operation_count;
