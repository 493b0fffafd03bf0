// SPDX-License-Identifier: Apache-2.0
// Formats of L1 to those of Src and Dst. Only FP32 narrows, by dropping bits; block formats become BF16 or FP16 with an
// exponent of each datum's own; integers of 8 bits get the exponent 16 that makes FP16 data paths carry them.
#include "unpack_unit.hpp"

namespace polyloom::tensix::unpack {
namespace {

enum class Kept : uint8_t { BF16, FP16, FP32, INT16, INT32 };

struct Middle {
    Kept kept;
    uint32_t bits;
};

std::optional<Middle> narrowed(const Plan& p, uint32_t x) {
    switch (p.out) {
        case Format::FP32: return Middle{Kept::FP32, x};
        case Format::BF16: return Middle{Kept::BF16, (x & 0x7F800000 ? x : x & 0x80000000) >> 16};
        case Format::FP16: return Middle{Kept::FP16, fp32_to_fp16(x)};
        default: return std::nullopt;
    }
}

Middle block(Format in, uint32_t bits, uint32_t exponent) {
    const Unblocked u = unblock(bits << (8 - bits_of(in)), exponent);
    const uint32_t sign = uint32_t(u.sign) << 15;
    if (is_narrow(in))
        return {Kept::FP16, u.infinite ? 0xFC00 : sign | (u.exponent & 31u) << 10 | uint32_t(u.mantissa) << 3};
    return {Kept::BF16, u.infinite ? 0xFF80 : sign | uint32_t(u.exponent) << 7 | u.mantissa};
}

Middle small_integer(uint32_t bits, bool is_unsigned) {
    const uint32_t sign = is_unsigned ? 0 : bits & 0x80, magnitude = bits - sign;
    return {Kept::FP16, sign << 8 | (magnitude ? 16 << 10 : 0) | magnitude};
}

std::optional<Middle> middle(const Plan& p, uint32_t bits, uint32_t exponent, bool is_unsigned) {
    if (p.in == Format::FP32) return narrowed(p, bits);
    if (p.in != p.out) return std::nullopt;
    switch (p.in) {
        case Format::BF16: return Middle{Kept::BF16, bits};
        case Format::FP16: return Middle{Kept::FP16, bits};
        case Format::FP8: return Middle{Kept::FP16, bits << 8};
        case Format::INT8: return small_integer(bits, is_unsigned);
        case Format::INT16: return Middle{Kept::INT16, bits};
        case Format::INT32: return Middle{Kept::INT32, bits};
        case Format::TF32: return p.to_dst ? std::optional(Middle{Kept::FP32, bits}) : std::nullopt;
        default: return block(p.in, bits, exponent);
    }
}

std::optional<uint32_t> for_dst(const Middle& m) {
    switch (m.kept) {
        case Kept::BF16: return bf16_to_dst(m.bits);
        case Kept::FP16: return fp16_to_dst(m.bits);
        case Kept::INT16: return m.bits;
        default: return fp32_to_dst(m.bits);
    }
}

std::optional<uint32_t> for_source(const Middle& m) {
    switch (m.kept) {
        case Kept::BF16: return bf16_to_src(m.bits);
        case Kept::FP16: return fp16_to_src(m.bits);
        case Kept::INT16: return dst_to_src_wide(m.bits);
        default: return std::nullopt;
    }
}

}  // namespace

std::optional<uint32_t> convert(const Plan& plan, uint32_t bits, uint32_t exponent, bool is_unsigned) {
    if (plan.in == Format::FP32 && plan.out == Format::TF32)
        return plan.to_dst ? fp32_to_dst(bits) : tf32_to_src(bits >> 13);
    const auto made = middle(plan, bits, exponent, is_unsigned);
    if (!made) return std::nullopt;
    return plan.to_dst ? for_dst(*made) : for_source(*made);
}

}  // namespace polyloom::tensix::unpack
