// SPDX-License-Identifier: Apache-2.0
// The packers' conversions. Early rounding is to nearest with ties away, flushes denormals and minus zero to zero, and
// makes NaN infinite; raw reads keep what they do not cut off. Late conversion truncates and saturates; block formats
// round to 7 bits of magnitude under the largest exponent of sixteen, and narrower ones truncate that.
#include <algorithm>

#include "pack_unit.hpp"

namespace polyloom::tensix::pack {
namespace {

constexpr uint32_t SIGN = 0x80000000, INFINITE = 0x7F800000;

// To `kept` bits of mantissa; patterns of FP32.
uint32_t round_wide(uint32_t x, int kept) {
    const int cut = 23 - kept;
    if ((x & ~SIGN) > INFINITE) x = (x & SIGN) | INFINITE;
    if (cut) x = (x + (1u << (cut - 1))) & ~((1u << cut) - 1);
    return (x & ~SIGN) < 0x800000 ? 0 : x;
}

uint32_t round_narrow(uint32_t x, int kept) {
    const int cut = 10 - kept;
    const uint32_t largest = 0x7FFF & ~((1u << cut) - 1);
    if (cut) x = (x & 0x7FFF) >= largest ? (x & 0x8000) | largest : (x + (1u << (cut - 1))) & ~((1u << cut) - 1);
    return (x & 0x7FFF) < 0x400 ? 0 : x;
}

uint32_t small_integer(const Early& e, uint32_t x) {
    const uint32_t sign = x >> 31;
    uint32_t size = x & ~SIGN;
    if (e.raw) return e.is_unsigned ? x & 0xFF : sign << 7 | (x & 0x7F);
    if (e.shift) size = (size + (1u << (e.shift - 1))) >> e.shift;
    return e.is_unsigned ? sign ? 0 : std::min(size, 255u) : sign << 7 | std::min(size, 127u);
}

std::optional<uint32_t> early_32(const Early& e, uint32_t bits) {
    const uint32_t x = fp32_of_dst(bits);
    switch (e.intermediate) {
        case Format::INT32: return x;
        case Format::FP32: return e.raw || !e.round_10 ? x : round_wide(x, 10);
        case Format::TF32: return e.raw ? x : round_wide(x, 10);
        case Format::BF16: return e.raw ? x & 0xFFFF0000 : round_wide(x, e.round_10 ? 10 : 7);
        case Format::BFP8: return e.raw ? x & 0xFFFF0000 : round_wide(x, 6);
        case Format::INT8: return small_integer(e, x);
        case Format::INT16: return bits >> 16;
        default: return std::nullopt;
    }
}

std::optional<uint32_t> early_16(const Early& e, uint32_t bits) {
    const uint32_t wide = uint32_t(bf16_of_dst(bits)) << 16, narrow = fp16_of_dst(bits);
    switch (e.intermediate) {
        case Format::TF32: return e.raw ? std::nullopt : std::optional(round_wide(wide, 10));
        case Format::FP32: return e.raw || !e.round_10 ? std::nullopt : std::optional(round_wide(wide, 10));
        case Format::BF16: return e.raw ? wide : round_wide(wide, 7);
        case Format::BFP8: return e.raw ? wide : round_wide(wide, 6);
        case Format::FP16: return e.raw ? narrow : round_narrow(narrow, 10);
        case Format::BFP8a: return e.raw ? narrow & ~7u : round_narrow(narrow, 6);
        case Format::FP8: return e.raw ? std::optional(narrow & ~0xFFu) : std::nullopt;
        case Format::INT8: return e.raw && !e.is_unsigned ? std::optional(bits >> 8 & 0x80) : std::nullopt;
        case Format::INT16: return bits;
        default: return std::nullopt;
    }
}

uint32_t sign_of(Held held) {
    return held == Held::FP32 || held == Held::INT32 ? SIGN : held == Held::INT8 ? 0x80 : 0x8000;
}

// Sign, 8 bits of exponent, 7 of mantissa, as blocks are made of.
uint32_t for_block(Held from, uint32_t x) {
    if (from == Held::FP32) return x & INFINITE ? x >> 16 : 0;
    return x & 0x7C00 ? (x & 0x8000) | ((x >> 10 & 31) + 112) << 7 | (x >> 3 & 127) : 0;
}
uint32_t for_narrow_block(uint32_t half) { return (half & 0x8000) | (half >> 10 & 31) << 7 | (half >> 3 & 127); }

std::optional<uint32_t> from_wide(Format from, Format to, uint32_t x) {
    const bool narrows = from == Format::FP32 || from == Format::TF32;
    switch (to) {
        case Format::FP32: return x;
        case Format::TF32: return from == Format::FP32 ? std::nullopt : std::optional(x);
        case Format::BF16: return (narrows && !(x & INFINITE) ? x & SIGN : x) >> 16;
        case Format::FP16: return fp32_to_fp16(x);
        case Format::FP8: return fp32_to_fp16(x) >> 8;
        case Format::BFP8:
        case Format::BFP4:
        case Format::BFP2: return for_block(Held::FP32, x);
        case Format::BFP8a:
        case Format::BFP4a:
        case Format::BFP2a: return for_narrow_block(fp32_to_fp16(x));
        default: return std::nullopt;
    }
}

std::optional<uint32_t> from_narrow(Format from, Format to, uint32_t x) {
    switch (to) {
        case Format::FP32:
        case Format::TF32: return fp16_to_fp32(x);
        case Format::BF16: return for_block(Held::FP16, x);
        case Format::FP16: return x;
        case Format::FP8: return (x & 0x7C00 || from == Format::FP8 ? x : x & 0x8000) >> 8;
        case Format::BFP8:
        case Format::BFP4:
        case Format::BFP2: return for_block(Held::FP16, x);
        case Format::BFP8a:
        case Format::BFP4a:
        case Format::BFP2a: return for_narrow_block(x);
        default: return std::nullopt;
    }
}

}  // namespace

Held held_as(Format f) {
    switch (f) {
        case Format::INT32: return Held::INT32;
        case Format::INT16: return Held::INT16;
        case Format::INT8: return Held::INT8;
        default: return is_narrow(f) ? Held::FP16 : Held::FP32;
    }
}

std::optional<uint32_t> convert_early(const Early& e, uint32_t of_dst) {
    return e.read_32 ? early_32(e, of_dst) : early_16(e, of_dst);
}

std::optional<uint32_t> rectify(const Early& e, uint32_t x) {
    const Held held = held_as(e.intermediate);
    const bool floating = held == Held::FP32 || held == Held::FP16;
    if (!e.relu) return x;
    if (e.relu > 1 && (!floating || e.threshold & 0x8000)) return std::nullopt;
    if (x & sign_of(held)) return 0;
    const uint32_t threshold = held == Held::FP32 ? e.threshold << 16 : e.threshold;
    if (e.relu == 2) return x <= threshold ? 0 : x;
    const int unseen = held == Held::FP32 ? 13 : 0;  // bits that the comparison drops
    return e.relu == 3 && x >> unseen > threshold >> unseen ? threshold : x;
}

uint32_t masked(const Early& e) {
    if (!e.edge_infinity) return 0;
    switch (held_as(e.intermediate)) {
        case Held::FP32: return SIGN | INFINITE;
        case Held::INT32: return ~0u;
        case Held::INT8: return 0xFF;
        default: return 0xFFFF;  // FP16 has its infinity there
    }
}

std::optional<uint32_t> convert_late(Format from, Format to, uint32_t x) {
    switch (held_as(from)) {
        case Held::FP32: return from_wide(from, to, x);
        case Held::FP16: return from_narrow(from, to, x);
        default: return from == to ? std::optional(x) : std::nullopt;
    }
}

Block block(Format to, const uint32_t* sixteen) {
    Block made{};
    for (int k = 0; k < 16; ++k) made.exponent = std::max(made.exponent, uint8_t(sixteen[k] >> 7));
    const uint32_t bits = bits_of(to);
    for (int k = 0; k < 16; ++k) {
        const uint32_t exponent = sixteen[k] >> 7 & 255, below = std::min<uint32_t>(made.exponent - exponent, 8);
        const uint32_t mantissa = (sixteen[k] & 127) | (exponent ? 128 : 0);
        const uint32_t rounded = below == 8 ? 0 : std::min((mantissa + (1u << below)) >> (below + 1), 127u);
        const uint32_t kept = rounded >> (8 - bits);
        made.datums[k] = uint8_t(kept | (kept ? (sixteen[k] >> 15 & 1) << (bits - 1) : 0));
    }
    return made;
}

}  // namespace polyloom::tensix::pack
