// SPDX-License-Identifier: Apache-2.0
// BF16 of scalars that are known at compile time.
#ifndef POLYLOOM_CKERNEL_API_NUMERIC_BFLOAT16_H
#define POLYLOOM_CKERNEL_API_NUMERIC_BFLOAT16_H

#include <cstdint>

struct FloatBits {
    std::uint16_t high16, low16;
    explicit constexpr FloatBits(float value)
        : high16(std::uint16_t(__builtin_bit_cast(std::uint32_t, value) >> 16)),
          low16(std::uint16_t(__builtin_bit_cast(std::uint32_t, value))) {}
};

constexpr std::uint16_t fp32_to_bf16(float value) {
    std::uint32_t const bits = __builtin_bit_cast(std::uint32_t, value);
    return std::uint16_t((bits + 0x7FFFu + ((bits >> 16) & 1u)) >> 16);
}
constexpr std::uint16_t fp32_to_bf16_truncate(float value) {
    return std::uint16_t(__builtin_bit_cast(std::uint32_t, value) >> 16);
}
constexpr float bf16_to_fp32(std::uint16_t bits) { return __builtin_bit_cast(float, std::uint32_t(bits) << 16); }

#endif
