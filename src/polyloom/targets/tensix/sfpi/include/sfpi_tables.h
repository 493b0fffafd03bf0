// SPDX-License-Identifier: Apache-2.0
// Functions by table: slope * |v| + offset, where |v| chooses the pair. Tables of 8-bit, 16-bit and 32-bit numbers.
#ifndef POLYLOOM_SFPI_TABLES_H
#define POLYLOOM_SFPI_TABLES_H

namespace sfpi {

// Whether the result keeps the sign of the table, or takes that of the argument.
enum class LutSign { Update = 0, Retain = 4 };
enum class LutMode { Default = 0, Fp16x6_HWM3 = 2, Fp16x6_HWM4 = 3 };

namespace impl_ {

// A sign, three bits that lower the exponent from 127, four of the mantissa, to nearest; 0xFF is zero.
sfpi_inline constexpr std::uint32_t table8(float value) {
    std::uint32_t const word = __builtin_bit_cast(std::uint32_t, value);
    std::uint32_t const rounded = (word & 0x7FFFFFFFu) + 0x3FFFFu + ((word >> 19) & 1u);
    std::int32_t const extender = 127 - std::int32_t(rounded >> 23);
    if (extender > 7) return 0xFFu;
    std::uint32_t const number =
        extender < 0 ? 0x0Fu : (std::uint32_t(extender) << 4) | ((rounded >> 19) & 15u);
    return ((word >> 24) & 0x80u) | number;
}

// FP16 to nearest; the unit reads the greatest exponent as zero, and has no denormals.
sfpi_inline constexpr std::uint32_t table16(float value) {
    std::uint32_t const word = __builtin_bit_cast(std::uint32_t, value);
    std::uint32_t const rounded = (word & 0x7FFFFFFFu) + 0xFFFu + ((word >> 13) & 1u);
    std::int32_t const exponent = std::int32_t(rounded >> 23) - 112;
    std::uint32_t const sign = (word >> 16) & 0x8000u;
    if (exponent < 0) return sign | 0x7C00u;
    if (exponent > 30) return sign | 0x7BFFu;
    return sign | (std::uint32_t(exponent) << 10) | ((rounded >> 13) & 0x3FFu);
}

}  // namespace impl_

#define __SFPI_TABLE(name, code)                                                                          \
    class name : public impl_::vVal {                                                                     \
    public:                                                                                               \
        name() = default;                                                                                 \
        name(name const &) = default;                                                                     \
        name &operator=(name const &) = default;                                                          \
        sfpi_inline explicit name(impl_::sfpu_t value) : vVal(value) {}                                   \
        sfpi_inline name(float first, float second) : vVal(__sfpi_splat(int(code))) {}                    \
    }
// A slope and an offset of 8 bits each; of 16 bits each; two slopes, or two offsets, of 16 bits, the first below.
__SFPI_TABLE(vLut8si, (impl_::table8(first) << 8) | impl_::table8(second));
__SFPI_TABLE(vLut16si, (impl_::table16(first) << 16) | impl_::table16(second));
__SFPI_TABLE(vLut16ss, impl_::table16(first) | (impl_::table16(second) << 16));
__SFPI_TABLE(vLut16ii, impl_::table16(first) | (impl_::table16(second) << 16));
#undef __SFPI_TABLE

struct vLut32si {
    vFloat slope, offset;
    sfpi_inline vLut32si(vFloat s, vFloat o) : slope(s), offset(o) {}
};

// 8-bit pairs in the low halves, for magnitudes below 1, below 2, and others.
sfpi_inline vFloat lut(vFloat v, vUInt l0, vUInt l1, vUInt l2, int = 0) {
    return __sfpi_sfplut(l0.get(), l1.get(), l2.get(), v.get(), 4);
}
sfpi_inline vFloat lut_sign(vFloat v, vUInt l0, vUInt l1, vUInt l2, int = 0) {
    return __sfpi_sfplut(l0.get(), l1.get(), l2.get(), v.get(), 0);
}
sfpi_inline vFloat lut2(vFloat v, vUInt l0, vUInt l1, vUInt l2) {
    return __sfpi_sfplutfp32_3r(l0.get(), l1.get(), l2.get(), v.get(), 14);
}
sfpi_inline vFloat lut2_sign(vFloat v, vUInt l0, vUInt l1, vUInt l2) {
    return __sfpi_sfplutfp32_3r(l0.get(), l1.get(), l2.get(), v.get(), 10);
}
sfpi_inline vFloat lut2(vFloat v, vFloat a0, vFloat a1, vFloat a2, vFloat b0, vFloat b1, vFloat b2) {
    return __sfpi_sfplutfp32_6r(a0.get(), a1.get(), a2.get(), b0.get(), b1.get(), b2.get(), v.get(), 4);
}
sfpi_inline vFloat lut2_sign(vFloat v, vFloat a0, vFloat a1, vFloat a2, vFloat b0, vFloat b1, vFloat b2) {
    return __sfpi_sfplutfp32_6r(a0.get(), a1.get(), a2.get(), b0.get(), b1.get(), b2.get(), v.get(), 0);
}
sfpi_inline vFloat lut2(vFloat v, vUInt a, vUInt b, vUInt c, vUInt d, vUInt e, vUInt f, int mode = 1) {
    return __sfpi_sfplutfp32_6r(a.get(), b.get(), c.get(), d.get(), e.get(), f.get(), v.get(), mode == 1 ? 6 : 7);
}
sfpi_inline vFloat lut2_sign(vFloat v, vUInt a, vUInt b, vUInt c, vUInt d, vUInt e, vUInt f, int mode = 1) {
    return __sfpi_sfplutfp32_6r(a.get(), b.get(), c.get(), d.get(), e.get(), f.get(), v.get(), mode == 1 ? 2 : 3);
}

// The spelling of 2026: the types of the tables say what they hold.
sfpi_inline vFloat lut(vFloat v, vLut8si t0, vLut8si t1, vLut8si t2, LutSign sign = LutSign::Retain) {
    return __sfpi_sfplut(t0.get(), t1.get(), t2.get(), v.get(), int(sign));
}
sfpi_inline vFloat lut(vFloat v, vLut16si t0, vLut16si t1, vLut16si t2, LutSign sign = LutSign::Retain) {
    return __sfpi_sfplutfp32_3r(t0.get(), t1.get(), t2.get(), v.get(), 10 | int(sign));
}
sfpi_inline vFloat lut(vFloat v, vLut32si t0, vLut32si t1, vLut32si t2, LutSign sign = LutSign::Retain) {
    return __sfpi_sfplutfp32_6r(t0.slope.get(), t1.slope.get(), t2.slope.get(), t0.offset.get(), t1.offset.get(),
                                t2.offset.get(), v.get(), int(sign));
}
template <LutMode M = LutMode::Fp16x6_HWM3>
sfpi_inline vFloat lut(vFloat v, vLut16ss s01, vLut16ii i01, vLut16ss s23, vLut16ii i23, vLut16ss s45, vLut16ii i45,
                       LutSign sign = LutSign::Retain) {
    return __sfpi_sfplutfp32_6r(s01.get(), s23.get(), s45.get(), i01.get(), i23.get(), i45.get(), v.get(),
                                (M == LutMode::Fp16x6_HWM4 ? 3 : 2) | int(sign));
}

}  // namespace sfpi

#endif
