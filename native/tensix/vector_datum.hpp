// SPDX-License-Identifier: Apache-2.0
// Datums between registers of the vector unit and Dst, in Dst's order of bits, by the modes of SFPLOAD and SFPSTORE
// (facts §1.2.1).
#pragma once

#include "tensix/vector_run.hpp"

namespace polyloom::tensix::vector {

enum Mode : uint32_t {
    SRCB,
    FP16,
    BF16,
    FP32,
    INT32,
    INT8,
    UINT16,
    HI16,
    INT16,
    LO16,
    INT32_ALL,
    ZERO,
    INT32_SM,
    INT8_COMP,
    LO16_ONLY,
    HI16_ONLY
};

constexpr uint32_t wide_row(uint32_t row) { return (row & 0x1F8) << 1 | (row & 0x207); }

// Sign, mantissa, exponent, as Dst has them, and sign, exponent, mantissa.
constexpr uint32_t bf16_loaded(uint32_t v) { return (v & 0x8000) | (v & 0xFF) << 7 | (v & 0x7F00) >> 8; }
constexpr uint32_t bf16_stored(uint32_t v) { return (v & 0x8000) | (v & 0x7F80) >> 7 | (v & 0x7F) << 8; }
constexpr uint32_t fp32_loaded(uint32_t v) { return bf16_loaded(v >> 16) << 16 | (v & 0xFFFF); }
constexpr uint32_t fp32_stored(uint32_t v) { return bf16_stored(v >> 16) << 16 | (v & 0xFFFF); }

inline uint32_t fp16_loaded(uint32_t v, bool infinite) {
    const uint32_t mantissa = v >> 5 & 0x3FF, exponent = v & 31, sign = (v & 0x8000) << 16;
    if (infinite && exponent == 31 && mantissa == 0x3FF) return sign | 0x7F800000;
    return sign | (exponent ? exponent + 112 : 0) << 23 | mantissa << 13;
}

inline uint32_t fp16_stored(uint32_t v) {
    const int exponent = int(v >> 23 & 255) - 112;
    const uint32_t sign = v >> 16 & 0x8000;
    if (exponent <= 0) return sign;
    if (exponent > 31) return sign | 0x7FE0 | 31;
    return sign | (v & FRACTION) >> 13 << 5 | uint32_t(exponent);
}

inline uint32_t bf16_of(uint32_t v) { return bf16_stored((v & 0x7F800000 ? v : v & SIGN) >> 16); }

// Sign and magnitude to two's complement, and back, but that 0x80000000 has no magnitude.
constexpr uint32_t complemented(uint32_t v) { return int32_t(v) < 0 ? 0 - (v & ~SIGN) : v; }
constexpr uint32_t signed_magnitude(uint32_t v) { return int32_t(v) < 0 ? SIGN | ((0 - v) & ~SIGN) : v; }
constexpr uint32_t int8_stored(uint32_t v) { return (v >> 16 & 0x8000) | (v & 0x3FF) << 5 | 16; }

// The mode is switched on once for all lanes.
inline Lanes loaded(uint32_t mode, const Lanes& data, const Lanes& old, uint32_t infinite) {
    const auto sign = [](uint32_t v) { return (v & 0x8000) << 16; };
    switch (mode) {
        case FP16: {
            Lanes made;
            for (int k = 0; k < LANES; ++k) made[k] = fp16_loaded(data[k], infinite & LANE_BIT[k]);
            return made;
        }
        case BF16: return each([](uint32_t v) { return bf16_loaded(v) << 16; }, data);
        case FP32:
        case INT32:
        case INT32_ALL: return each(fp32_loaded, data);
        case INT32_SM: return each([](uint32_t v) { return complemented(fp32_loaded(v)); }, data);
        case INT8: return each([=](uint32_t v) { return sign(v) | (v >> 5 & 0x7F); }, data);
        case INT8_COMP: return each([=](uint32_t v) { return complemented(sign(v) | (v >> 5 & 0x3FF)); }, data);
        case LO16_ONLY: return each([](uint32_t v, uint32_t o) { return (o & 0xFFFF0000) | v; }, data, old);
        case HI16_ONLY: return each([](uint32_t v, uint32_t o) { return v << 16 | (o & 0xFFFF); }, data, old);
        case INT16: return each([=](uint32_t v) { return sign(v) | (v & 0x7FFF); }, data);
        case HI16: return each([](uint32_t v) { return v << 16; }, data);
        case ZERO: return Lanes{};
        default: return data;
    }
}

inline Lanes stored(uint32_t mode, const Lanes& value) {
    switch (mode) {
        case FP16: return each(fp16_stored, value);
        case BF16: return each(bf16_of, value);
        case FP32:
        case INT32:
        case INT32_ALL: return each(fp32_stored, value);
        case INT32_SM: return each([](uint32_t v) { return fp32_stored(signed_magnitude(v)); }, value);
        case INT8: return each(int8_stored, value);
        case INT8_COMP: return each([](uint32_t v) { return int8_stored(signed_magnitude(v)); }, value);
        case HI16_ONLY: return each([](uint32_t v) { return v >> 16; }, value);
        case INT16: return each([](uint32_t v) { return (v >> 16 & 0x8000) | (v & 0x7FFF); }, value);
        case LO16: return each([](uint32_t v) { return v << 16 | v >> 16; }, value);
        case ZERO: return Lanes{};
        default: return value;  // HI16: all 32 bits; else the low 16
    }
}

}  // namespace polyloom::tensix::vector
