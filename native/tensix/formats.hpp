// SPDX-License-Identifier: Apache-2.0
// The number formats of the tile and the orders in which Src and Dst hold their bits. L1 holds sign, exponent, mantissa
// as usual; Dst and Src hold sign, mantissa, exponent, so that a value of one format read as another is what the
// hardware makes of it. FP32 in Dst is its upper 16 bits in that order, then its lower 16 as they are; integers move
// alike.
#pragma once

#include <bit>
#include <cstdint>

namespace polyloom::tensix {

enum class Format : uint8_t {
    FP32 = 0,
    FP16 = 1,
    BFP8a = 2,
    BFP4a = 3,
    TF32 = 4,
    BF16 = 5,
    BFP8 = 6,
    BFP4 = 7,
    INT32 = 8,
    INT16 = 9,
    FP8 = 10,
    BFP2a = 11,
    INT8 = 14,
    BFP2 = 15,
};

// What the matrix unit makes of a Src format.
enum class Style : uint8_t { BF16, TF32, FP16, INT8 };

constexpr bool known(uint32_t code) { return code != 12 && code != 13 && code < 16; }

constexpr bool is_block(Format f) {
    return f == Format::BFP8 || f == Format::BFP8a || f == Format::BFP4 || f == Format::BFP4a || f == Format::BFP2 ||
           f == Format::BFP2a;
}

constexpr uint32_t bits_of(Format f) {
    switch (f) {
        case Format::FP32:
        case Format::TF32:
        case Format::INT32: return 32;
        case Format::FP16:
        case Format::BF16:
        case Format::INT16: return 16;
        case Format::BFP4:
        case Format::BFP4a: return 4;
        case Format::BFP2:
        case Format::BFP2a: return 2;
        default: return 8;
    }
}

// Formats with 5 bits of exponent.
constexpr bool is_narrow(Format f) {
    return f == Format::FP16 || f == Format::FP8 || f == Format::BFP8a || f == Format::BFP4a || f == Format::BFP2a ||
           f == Format::INT8;
}

constexpr Style style_of(Format f) {
    return f == Format::TF32 ? Style::TF32 : is_narrow(f) ? Style::FP16 : Style::BF16;
}

// Usual order <-> Dst's.
constexpr uint16_t bf16_to_dst(uint32_t x) { return uint16_t((x & 0x8000) | (x & 0x7F) << 8 | (x >> 7 & 0xFF)); }
constexpr uint16_t bf16_of_dst(uint32_t x) { return uint16_t((x & 0x8000) | (x & 0xFF) << 7 | (x >> 8 & 0x7F)); }
constexpr uint16_t fp16_to_dst(uint32_t x) { return uint16_t((x & 0x8000) | (x & 0x3FF) << 5 | (x >> 10 & 0x1F)); }
constexpr uint16_t fp16_of_dst(uint32_t x) { return uint16_t((x & 0x8000) | (x & 0x1F) << 10 | (x >> 5 & 0x3FF)); }
constexpr uint32_t fp32_to_dst(uint32_t x) { return uint32_t(bf16_to_dst(x >> 16)) << 16 | (x & 0xFFFF); }
constexpr uint32_t fp32_of_dst(uint32_t x) { return uint32_t(bf16_of_dst(x >> 16)) << 16 | (x & 0xFFFF); }

// Usual order -> Src's.
constexpr uint32_t tf32_to_src(uint32_t x) { return (x & 0x40000) | (x & 0x3FF) << 8 | (x >> 10 & 0xFF); }
constexpr uint32_t bf16_to_src(uint32_t x) { return tf32_to_src(x << 3); }
constexpr uint32_t fp16_to_src(uint32_t x) { return tf32_to_src((x & 0x8000) << 3 | (x & 0x7FFF)); }

// Src's order <-> Dst's: what MOVA2D and its like do, whatever the bits mean.
constexpr uint16_t src_to_dst_wide(uint32_t x) { return uint16_t((x >> 3 & 0xFF00) | (x & 0xFF)); }
constexpr uint16_t src_to_dst_narrow(uint32_t x) { return uint16_t((x >> 3 & 0xFFE0) | (x & 0x1F)); }
constexpr uint32_t dst_to_src_wide(uint32_t x) { return (x & 0xFF00) << 3 | (x & 0xFF); }
constexpr uint32_t dst_to_src_narrow(uint32_t x) { return (x & 0xFFE0) << 3 | (x & 0x1F); }
constexpr uint32_t dst_to_src_tf32(uint32_t x) {  // the upper 19 bits of FP32 in Dst
    return (x >> 16 & 0xFF00) << 3 | (x >> 13 & 7) << 8 | (x >> 16 & 0xFF);
}

// FP32 to FP16 without infinities: truncates, saturates, and gives zero below an exponent of 0. At exponent 0 the
// mantissa stays, as in the machine, which leaves what other units take for a denormal.
constexpr uint16_t fp32_to_fp16(uint32_t x) {
    const uint32_t sign = x >> 16 & 0x8000;
    const int exponent = int(x >> 23 & 255) - 112;
    if (exponent < 0) return uint16_t(sign);
    if (exponent > 31) return uint16_t(sign | 0x7FFF);
    return uint16_t(sign | uint32_t(exponent) << 10 | (x >> 13 & 0x3FF));
}

constexpr uint32_t fp16_to_fp32(uint32_t x) {  // an exponent of 0 stays 0
    const uint32_t exponent = x >> 10 & 31;
    return (x & 0x8000) << 16 | (exponent ? exponent + 112 : 0) << 23 | (x & 0x3FF) << 13;
}

// A datum of a block format, shifted up to 8 bits, as a float with `exponent` of its block: 7 bits of magnitude with no
// hidden one. A negative zero stands for minus infinity. The exponent wraps as the hardware's does.
struct Unblocked {
    bool sign, infinite;
    uint8_t exponent, mantissa;  // 7 bits
};
constexpr Unblocked unblock(uint32_t datum, uint32_t exponent) {
    const bool sign = datum >> 7 & 1;
    const auto magnitude = uint8_t(datum << 1);
    if (!magnitude) return {sign, sign, 0, 0};
    const int zeros = std::countl_zero(magnitude);
    return {sign, false, uint8_t(exponent - uint32_t(zeros)), uint8_t(magnitude << zeros & 0x7E)};
}

}  // namespace polyloom::tensix
