// SPDX-License-Identifier: Apache-2.0
// What each packed instruction does, by its name, and what issue has to know of it.
#pragma once

#include <algorithm>

#include "packed.hpp"
#include "packed_memory.hpp"
#include "minion/packed_table.hpp"

namespace polyloom::minion::packed {

// Functions of lanes, or of words of memory and a lane, for all widths that are used.
constexpr auto plus = [](auto a, auto b) { return a + b; };
constexpr auto minus = [](uint32_t a, uint32_t b) { return a - b; };
constexpr auto times_low = [](uint32_t a, uint32_t b) { return a * b; };
constexpr auto second = [](auto, auto b) { return b; };
constexpr auto both = [](auto a, auto b) { return a & b; };
constexpr auto either = [](auto a, auto b) { return a | b; };
constexpr auto exclusive = [](auto a, auto b) { return a ^ b; };
constexpr auto inverse = [](auto a, auto) { return ~a; };
constexpr auto shift_left = [](uint32_t a, uint32_t b) { return b < 32 ? a << b : 0; };
constexpr auto shift_right = [](uint32_t a, uint32_t b) { return b < 32 ? a >> b : 0; };
constexpr auto shift_signed = [](uint32_t a, uint32_t b) { return uint32_t(int32_t(a) >> std::min(b, 31u)); };
constexpr auto less = [](uint32_t a, uint32_t b, uint32_t&) { return int32_t(a) < int32_t(b); };
constexpr auto nonzero = [](uint32_t a, uint32_t, uint32_t&) { return a != 0; };
constexpr auto classify = [](Bits a, Bits) { return uint32_t(riscv::classify<Single>(a)); };

template <class T>
constexpr auto least = [](auto a, auto b) { return T(a) < T(b) ? a : b; };
template <class T>
constexpr auto greatest = [](auto a, auto b) { return T(a) > T(b) ? a : b; };
template <class Wide, class T>
constexpr auto times_high = [](uint32_t a, uint32_t b) { return uint32_t((Wide(T(a)) * Wide(T(b))) >> 32); };
template <class T, bool OR_EQUAL, bool EQUAL>
constexpr auto ones = [](uint32_t a, uint32_t b) {
    return 0u - uint32_t(EQUAL ? a == b : OR_EQUAL ? T(a) <= T(b) : T(a) < T(b));
};
template <int LOW, int HIGH>
constexpr auto saturate = [](uint32_t a, uint32_t) { return uint32_t(std::clamp(int32_t(a), LOW, HIGH)) & 0xff; };
// The sign of b, its opposite, or both signs' product.
template <int HOW>
constexpr auto sign = [](Bits a, Bits b) {
    return (a & ~Single::SIGN) | ((HOW == 0 ? b : HOW == 1 ? ~b : a ^ b) & Single::SIGN);
};
// Atomics know no flush and no flags. Source: ET Programmer's Reference Manual, section 3.4. A signalling NaN makes the
// result a NaN, as in IEEE 754-2008. Source: the vendor's emulator.
template <bool GREATER>
constexpr auto number = [](Bits a, Bits b) {
    uint8_t flags = 0;
    const Bits made = riscv::extreme<Single, GREATER>(a, b, flags);
    return flags & riscv::NV ? Bits(Single::NAN_BITS) : made;
};

// Functions of fewer operands as the kernels call them.
template <auto G>
constexpr auto unary = [](Bits a, Bits, uint32_t& flags) { return G(a, flags); };
template <auto G>
constexpr auto alone = [](Bits a, Bits) { return G(a); };
template <auto G>
constexpr auto quietly = [](Bits a, int mode, uint32_t&) { return G(a, mode); };
template <class I>
constexpr auto to_integer =
    [](Bits a, int mode, uint32_t& flags) { return uint32_t(single::to_integer<I>(a, mode, flags)); };
template <class I>
constexpr auto from_integer =
    [](Bits a, int mode, uint32_t& flags) { return single::from_integer<I>(I(a), mode, flags); };

// Within each half of the register, two bits of the word for each of four lanes.
constexpr auto swizzle = [](const Register& a, unsigned e, uint32_t byte) {
    return a.lane[(e & 4) | (byte >> 2 * (e & 3) & 3)];
};
// The low bytes or halves of all lanes side by side, repeated over the register.
constexpr auto bytes_together = [](const Register& a, unsigned e, uint32_t) {
    uint32_t made = 0;
    for (unsigned n = 0; n < 4; ++n) made |= (a.lane[4 * (e & 1) + n] & 0xff) << 8 * n;
    return made;
};
constexpr auto halves_together = [](const Register& a, unsigned e, uint32_t) {
    return (a.lane[2 * (e & 3)] & 0xffff) | a.lane[2 * (e & 3) + 1] << 16;
};

#define STEP(...) (riscv::custom_step<P, __VA_ARGS__>)

template <class P>
riscv::Action<P> step_of(Packed op) {
    switch (op) {
        case Packed::FLQ2: return STEP(load<P, false>);
        case Packed::FSQ2: return STEP(store<P, false>);
        case Packed::FLW_PS: return STEP(load<P, true>);
        case Packed::FSW_PS: return STEP(store<P, true>);
        case Packed::FBC_PS: return STEP(load_broadcast<P>);
        case Packed::FBCX_PS: return STEP(broadcast_x<P>);
        case Packed::FBCI_PS: return STEP(broadcast_immediate<P, true>);
        case Packed::FBCI_PI: return STEP(broadcast_immediate<P, false>);
        case Packed::FGW_PS: return STEP(gather<P, 4>);
        case Packed::FSCW_PS: return STEP(scatter<P, 4>);
        case Packed::FG32W_PS: return STEP(gather_near<P, 4>);
        case Packed::FSC32W_PS: return STEP(scatter_near<P, 4>);
        case Packed::FGH_PS: return STEP(gather<P, 2>);
        case Packed::FSCH_PS: return STEP(scatter<P, 2>);
        case Packed::FG32H_PS: return STEP(gather_near<P, 2>);
        case Packed::FSC32H_PS: return STEP(scatter_near<P, 2>);
        case Packed::FGB_PS: return STEP(gather<P, 1>);
        case Packed::FSCB_PS: return STEP(scatter<P, 1>);
        case Packed::FG32B_PS: return STEP(gather_near<P, 1>);
        case Packed::FSC32B_PS: return STEP(scatter_near<P, 1>);
        case Packed::FLWL_PS: return STEP(load_shared<P, false>);
        case Packed::FSWL_PS: return STEP(store_shared<P, false>);
        case Packed::FGWL_PS: return STEP(gather_shared<P, 4, false>);
        case Packed::FSCWL_PS: return STEP(scatter_shared<P, 4, false>);
        case Packed::FGHL_PS: return STEP(gather_shared<P, 2, false>);
        case Packed::FSCHL_PS: return STEP(scatter_shared<P, 2, false>);
        case Packed::FGBL_PS: return STEP(gather_shared<P, 1, false>);
        case Packed::FSCBL_PS: return STEP(scatter_shared<P, 1, false>);
        case Packed::FAMOADDL_PI: return STEP(lanes_atomic<P, false, plus>);
        case Packed::AMOADDL_W: return STEP(atomic<P, uint32_t, false, plus>);
        case Packed::AMOADDL_D: return STEP(atomic<P, uint64_t, false, plus>);
        case Packed::FAMOSWAPL_PI: return STEP(lanes_atomic<P, false, second>);
        case Packed::AMOSWAPL_W: return STEP(atomic<P, uint32_t, false, second>);
        case Packed::AMOSWAPL_D: return STEP(atomic<P, uint64_t, false, second>);
        case Packed::FAMOANDL_PI: return STEP(lanes_atomic<P, false, both>);
        case Packed::AMOANDL_W: return STEP(atomic<P, uint32_t, false, both>);
        case Packed::AMOANDL_D: return STEP(atomic<P, uint64_t, false, both>);
        case Packed::FAMOORL_PI: return STEP(lanes_atomic<P, false, either>);
        case Packed::AMOORL_W: return STEP(atomic<P, uint32_t, false, either>);
        case Packed::AMOORL_D: return STEP(atomic<P, uint64_t, false, either>);
        case Packed::FAMOXORL_PI: return STEP(lanes_atomic<P, false, exclusive>);
        case Packed::AMOXORL_W: return STEP(atomic<P, uint32_t, false, exclusive>);
        case Packed::AMOXORL_D: return STEP(atomic<P, uint64_t, false, exclusive>);
        case Packed::FAMOMINL_PI: return STEP(lanes_atomic<P, false, least<int32_t>>);
        case Packed::AMOMINL_W: return STEP(atomic<P, uint32_t, false, least<int32_t>>);
        case Packed::AMOMINL_D: return STEP(atomic<P, uint64_t, false, least<int64_t>>);
        case Packed::FAMOMAXL_PI: return STEP(lanes_atomic<P, false, greatest<int32_t>>);
        case Packed::AMOMAXL_W: return STEP(atomic<P, uint32_t, false, greatest<int32_t>>);
        case Packed::AMOMAXL_D: return STEP(atomic<P, uint64_t, false, greatest<int64_t>>);
        case Packed::FAMOMINUL_PI: return STEP(lanes_atomic<P, false, least<uint32_t>>);
        case Packed::AMOMINUL_W: return STEP(atomic<P, uint32_t, false, least<uint32_t>>);
        case Packed::AMOMINUL_D: return STEP(atomic<P, uint64_t, false, least<uint64_t>>);
        case Packed::FAMOMAXUL_PI: return STEP(lanes_atomic<P, false, greatest<uint32_t>>);
        case Packed::AMOMAXUL_W: return STEP(atomic<P, uint32_t, false, greatest<uint32_t>>);
        case Packed::AMOMAXUL_D: return STEP(atomic<P, uint64_t, false, greatest<uint64_t>>);
        case Packed::FAMOMAXL_PS: return STEP(lanes_atomic<P, false, number<true>>);
        case Packed::FAMOMINL_PS: return STEP(lanes_atomic<P, false, number<false>>);
        case Packed::AMOCMPSWAPL_W: return STEP(compare_and_swap<P, uint32_t, false>);
        case Packed::AMOCMPSWAPL_D: return STEP(compare_and_swap<P, uint64_t, false>);
        case Packed::SBL: return STEP(store_x<P, 1, false>);
        case Packed::SHL: return STEP(store_x<P, 2, false>);
        case Packed::FLWG_PS: return STEP(load_shared<P, true>);
        case Packed::FSWG_PS: return STEP(store_shared<P, true>);
        case Packed::FGWG_PS: return STEP(gather_shared<P, 4, true>);
        case Packed::FSCWG_PS: return STEP(scatter_shared<P, 4, true>);
        case Packed::FGHG_PS: return STEP(gather_shared<P, 2, true>);
        case Packed::FSCHG_PS: return STEP(scatter_shared<P, 2, true>);
        case Packed::FGBG_PS: return STEP(gather_shared<P, 1, true>);
        case Packed::FSCBG_PS: return STEP(scatter_shared<P, 1, true>);
        case Packed::FAMOADDG_PI: return STEP(lanes_atomic<P, true, plus>);
        case Packed::AMOADDG_W: return STEP(atomic<P, uint32_t, true, plus>);
        case Packed::AMOADDG_D: return STEP(atomic<P, uint64_t, true, plus>);
        case Packed::FAMOSWAPG_PI: return STEP(lanes_atomic<P, true, second>);
        case Packed::AMOSWAPG_W: return STEP(atomic<P, uint32_t, true, second>);
        case Packed::AMOSWAPG_D: return STEP(atomic<P, uint64_t, true, second>);
        case Packed::FAMOANDG_PI: return STEP(lanes_atomic<P, true, both>);
        case Packed::AMOANDG_W: return STEP(atomic<P, uint32_t, true, both>);
        case Packed::AMOANDG_D: return STEP(atomic<P, uint64_t, true, both>);
        case Packed::FAMOORG_PI: return STEP(lanes_atomic<P, true, either>);
        case Packed::AMOORG_W: return STEP(atomic<P, uint32_t, true, either>);
        case Packed::AMOORG_D: return STEP(atomic<P, uint64_t, true, either>);
        case Packed::FAMOXORG_PI: return STEP(lanes_atomic<P, true, exclusive>);
        case Packed::AMOXORG_W: return STEP(atomic<P, uint32_t, true, exclusive>);
        case Packed::AMOXORG_D: return STEP(atomic<P, uint64_t, true, exclusive>);
        case Packed::FAMOMING_PI: return STEP(lanes_atomic<P, true, least<int32_t>>);
        case Packed::AMOMING_W: return STEP(atomic<P, uint32_t, true, least<int32_t>>);
        case Packed::AMOMING_D: return STEP(atomic<P, uint64_t, true, least<int64_t>>);
        case Packed::FAMOMAXG_PI: return STEP(lanes_atomic<P, true, greatest<int32_t>>);
        case Packed::AMOMAXG_W: return STEP(atomic<P, uint32_t, true, greatest<int32_t>>);
        case Packed::AMOMAXG_D: return STEP(atomic<P, uint64_t, true, greatest<int64_t>>);
        case Packed::FAMOMINUG_PI: return STEP(lanes_atomic<P, true, least<uint32_t>>);
        case Packed::AMOMINUG_W: return STEP(atomic<P, uint32_t, true, least<uint32_t>>);
        case Packed::AMOMINUG_D: return STEP(atomic<P, uint64_t, true, least<uint64_t>>);
        case Packed::FAMOMAXUG_PI: return STEP(lanes_atomic<P, true, greatest<uint32_t>>);
        case Packed::AMOMAXUG_W: return STEP(atomic<P, uint32_t, true, greatest<uint32_t>>);
        case Packed::AMOMAXUG_D: return STEP(atomic<P, uint64_t, true, greatest<uint64_t>>);
        case Packed::FAMOMAXG_PS: return STEP(lanes_atomic<P, true, number<true>>);
        case Packed::FAMOMING_PS: return STEP(lanes_atomic<P, true, number<false>>);
        case Packed::AMOCMPSWAPG_W: return STEP(compare_and_swap<P, uint32_t, true>);
        case Packed::AMOCMPSWAPG_D: return STEP(compare_and_swap<P, uint64_t, true>);
        case Packed::SBG: return STEP(store_x<P, 1, true>);
        case Packed::SHG: return STEP(store_x<P, 2, true>);
        case Packed::FADD_PS: return STEP(binary<P, Wide::add, single::add>);
        case Packed::FSUB_PS: return STEP(binary<P, Wide::sub, single::sub>);
        case Packed::FMUL_PS: return STEP(binary<P, Wide::mul, single::mul>);
        case Packed::FMADD_PS: return STEP(fused<P, false, false>);
        case Packed::FMSUB_PS: return STEP(fused<P, false, true>);
        case Packed::FNMSUB_PS: return STEP(fused<P, true, false>);
        case Packed::FNMADD_PS: return STEP(fused<P, true, true>);
        case Packed::FSGNJ_PS: return STEP(integer<P, sign<0>>);
        case Packed::FSGNJN_PS: return STEP(integer<P, sign<1>>);
        case Packed::FSGNJX_PS: return STEP(integer<P, sign<2>>);
        case Packed::FMIN_PS: return STEP(lanes<P, false, single::minimum>);
        case Packed::FMAX_PS: return STEP(lanes<P, false, single::maximum>);
        case Packed::FLE_PS: return STEP(lanes<P, true, single::less_or_equal>);
        case Packed::FLT_PS: return STEP(lanes<P, true, single::less>);
        case Packed::FEQ_PS: return STEP(lanes<P, true, single::equal>);
        case Packed::FLEM_PS: return STEP(to_mask<P, single::less_or_equal>);
        case Packed::FLTM_PS: return STEP(to_mask<P, single::less>);
        case Packed::FEQM_PS: return STEP(to_mask<P, single::equal>);
        case Packed::FCLASS_PS: return STEP(integer<P, classify>);
        case Packed::FROUND_PS: return STEP(converted<P, true, rounded_off>);
        case Packed::FFRC_PS: return STEP(lanes<P, false, unary<fraction>>);
        case Packed::FLOG_PS: return STEP(lanes<P, false, unary<packed::log2>>);
        case Packed::FEXP_PS: return STEP(lanes<P, false, unary<packed::exp2>>);
        case Packed::FRCP_PS: return STEP(lanes<P, false, unary<reciprocal>>);
        case Packed::FDIV_PS: return STEP(emulated<P>);
        case Packed::FSQRT_PS: return STEP(emulated<P>);
        case Packed::FSIN_PS: return STEP(emulated<P>);
        case Packed::FRSQ_PS: return STEP(emulated<P>);
        case Packed::FDIV_PI: return STEP(emulated<P>);
        case Packed::FDIVU_PI: return STEP(emulated<P>);
        case Packed::FREM_PI: return STEP(emulated<P>);
        case Packed::FREMU_PI: return STEP(emulated<P>);
        case Packed::FCVT_PW_PS: return STEP(converted<P, true, to_integer<int32_t>>);
        case Packed::FCVT_PWU_PS: return STEP(converted<P, true, to_integer<uint32_t>>);
        case Packed::FCVT_PS_PW: return STEP(converted<P, true, from_integer<int32_t>>);
        case Packed::FCVT_PS_PWU: return STEP(converted<P, true, from_integer<uint32_t>>);
        case Packed::FCVT_PS_F16: return STEP(lanes<P, false, unary<from_half>>);
        case Packed::FCVT_F16_PS: return STEP(converted<P, false, to_half>);
        case Packed::FCVT_PS_F10: return STEP(graphics<P, integer<P, alone<from_small<5>>>>);
        case Packed::FCVT_F10_PS: return STEP(graphics<P, integer<P, alone<to_small<5>>>>);
        case Packed::FCVT_PS_F11: return STEP(graphics<P, integer<P, alone<from_small<6>>>>);
        case Packed::FCVT_F11_PS: return STEP(graphics<P, integer<P, alone<to_small<6>>>>);
        case Packed::FCVT_PS_UN24: return STEP(graphics<P, converted<P, false, quietly<from_unorm<24>>>>);
        case Packed::FCVT_UN24_PS: return STEP(graphics<P, integer<P, alone<to_unorm<24>>>>);
        case Packed::FCVT_PS_UN16: return STEP(graphics<P, converted<P, false, quietly<from_unorm<16>>>>);
        case Packed::FCVT_UN16_PS: return STEP(graphics<P, integer<P, alone<to_unorm<16>>>>);
        case Packed::FCVT_PS_UN10: return STEP(graphics<P, converted<P, false, quietly<from_unorm<10>>>>);
        case Packed::FCVT_UN10_PS: return STEP(graphics<P, integer<P, alone<to_unorm<10>>>>);
        case Packed::FCVT_PS_UN8: return STEP(graphics<P, converted<P, false, quietly<from_unorm<8>>>>);
        case Packed::FCVT_UN8_PS: return STEP(graphics<P, integer<P, alone<to_unorm<8>>>>);
        case Packed::FCVT_PS_UN2: return STEP(graphics<P, converted<P, false, quietly<from_unorm<2>>>>);
        case Packed::FCVT_UN2_PS: return STEP(graphics<P, integer<P, alone<to_unorm<2>>>>);
        case Packed::FCVT_PS_SN16: return STEP(graphics<P, integer<P, alone<from_snorm<16>>>>);
        case Packed::FCVT_SN16_PS: return STEP(graphics<P, integer<P, alone<to_snorm<16>>>>);
        case Packed::FCVT_PS_SN8: return STEP(graphics<P, integer<P, alone<from_snorm<8>>>>);
        case Packed::FCVT_SN8_PS: return STEP(graphics<P, integer<P, alone<to_snorm<8>>>>);
        case Packed::FADD_PI: return STEP(integer<P, plus>);
        case Packed::FSUB_PI: return STEP(integer<P, minus>);
        case Packed::FMUL_PI: return STEP(integer<P, times_low>);
        case Packed::FMULH_PI: return STEP(integer<P, times_high<int64_t, int32_t>>);
        case Packed::FMULHU_PI: return STEP(integer<P, times_high<uint64_t, uint32_t>>);
        case Packed::FMIN_PI: return STEP(integer<P, least<int32_t>>);
        case Packed::FMAX_PI: return STEP(integer<P, greatest<int32_t>>);
        case Packed::FMINU_PI: return STEP(integer<P, least<uint32_t>>);
        case Packed::FMAXU_PI: return STEP(integer<P, greatest<uint32_t>>);
        case Packed::FAND_PI: return STEP(integer<P, both>);
        case Packed::FOR_PI: return STEP(integer<P, either>);
        case Packed::FXOR_PI: return STEP(integer<P, exclusive>);
        case Packed::FSLL_PI: return STEP(integer<P, shift_left>);
        case Packed::FSRL_PI: return STEP(integer<P, shift_right>);
        case Packed::FSRA_PI: return STEP(integer<P, shift_signed>);
        case Packed::FLE_PI: return STEP(integer<P, ones<int32_t, true, false>>);
        case Packed::FLT_PI: return STEP(integer<P, ones<int32_t, false, false>>);
        case Packed::FEQ_PI: return STEP(integer<P, ones<int32_t, false, true>>);
        case Packed::FLTU_PI: return STEP(integer<P, ones<uint32_t, false, false>>);
        case Packed::FNOT_PI: return STEP(integer<P, inverse>);
        case Packed::FSAT8_PI: return STEP(integer<P, saturate<-128, 127>>);
        case Packed::FSATU8_PI: return STEP(integer<P, saturate<0, 255>>);
        case Packed::FSLLI_PI: return STEP(immediate<P, shift_left, false>);
        case Packed::FSRLI_PI: return STEP(immediate<P, shift_right, false>);
        case Packed::FSRAI_PI: return STEP(immediate<P, shift_signed, false>);
        case Packed::FADDI_PI: return STEP(immediate<P, plus, true>);
        case Packed::FANDI_PI: return STEP(immediate<P, both, true>);
        case Packed::FLTM_PI: return STEP(to_mask<P, less>);
        case Packed::FSETM_PI: return STEP(to_mask<P, nonzero>);
        case Packed::FPACKREPB_PI: return STEP(shuffled<P, bytes_together>);
        case Packed::FPACKREPH_PI: return STEP(shuffled<P, halves_together>);
        case Packed::FSWIZZ_PS: return STEP(shuffled<P, swizzle>);
        case Packed::FCMOV_PS: return STEP(chosen<P>);
        case Packed::FCMOVM_PS: return STEP(chosen_by_mask<P>);
        case Packed::FMVZ_X_PS: return STEP(move_lane<P, false>);
        case Packed::FMVS_X_PS: return STEP(move_lane<P, true>);
        case Packed::PACKB: return STEP(pack_bytes<P>);
        case Packed::BITMIXB: return STEP(graphics<P, mix_bits<P>>);
        case Packed::MOV_M_X: return STEP(mask_of_x<P>);
        case Packed::MOVA_X_M: return STEP(x_of_masks<P>);
        case Packed::MOVA_M_X: return STEP(masks_of_x<P>);
        case Packed::MASKAND: return STEP(masks<P, both>);
        case Packed::MASKOR: return STEP(masks<P, either>);
        case Packed::MASKXOR: return STEP(masks<P, exclusive>);
        case Packed::MASKNOT: return STEP(masks<P, inverse>);
        case Packed::MASKPOPC: return STEP(count_mask<P, false>);
        case Packed::MASKPOPCZ: return STEP(count_mask<P, true>);
        case Packed::COUNT: break;
    }
    return nullptr;
}

#undef STEP

inline bool between(Packed op, Packed first, Packed last) { return op >= first && op <= last; }
inline bool gathers(Packed op) {
    return between(op, Packed::FGW_PS, Packed::FSCB_PS) || between(op, Packed::FGWL_PS, Packed::FSCBL_PS) ||
           between(op, Packed::FGWG_PS, Packed::FSCBG_PS);
}
inline bool loads(Packed op) {
    return op == Packed::FLQ2 || op == Packed::FLW_PS || op == Packed::FBC_PS || gathers(op) ||
           between(op, Packed::FG32W_PS, Packed::FG32B_PS);
}
// Scatters, stores that pass L1, and atomics have their data where others have a destination.
inline bool stores(Packed op) {
    return between(op, Packed::FSCW_PS, Packed::FSCB_PS) || between(op, Packed::FSC32W_PS, Packed::FSC32B_PS) ||
           op == Packed::FSWL_PS || op == Packed::FSWG_PS || between(op, Packed::FSCWL_PS, Packed::FSCBL_PS) ||
           between(op, Packed::FSCWG_PS, Packed::FSCBG_PS) || between(op, Packed::FAMOADDL_PI, Packed::FAMOMING_PS);
}
inline bool is_transcendental(Packed op) {
    return op == Packed::FLOG_PS || op == Packed::FEXP_PS || op == Packed::FRCP_PS;
}
// What the unit of integers and moves does, in which a result is there earlier.
inline bool is_simple(Packed op) {
    return between(op, Packed::FADD_PI, Packed::COUNT) || between(op, Packed::FSGNJ_PS, Packed::FSGNJX_PS) ||
           between(op, Packed::FBCX_PS, Packed::FBCI_PI);
}

inline uint8_t base(File file) {
    return file == File::x ? Need::X : file == File::f ? Need::F : file == File::m ? Need::M : Need::NONE;
}

inline Need need_of(const PackedRow& row, const Latencies& latencies) {
    Need need{row.rd == File::none ? Need::NOWHERE : base(row.rd), base(row.rs1), base(row.rs2), base(row.rs3)};
    need.latency = loads(row.op)               ? latencies.load
                   : is_transcendental(row.op) ? latencies.transcendental
                   : is_simple(row.op)         ? latencies.vector_integer
                                               : latencies.vector_float;
    need.stores = stores(row.op);
    if (gathers(row.op)) need.holds = latencies.gather, need.latency = uint8_t(latencies.gather + latencies.load);
    return need;
}

template <class P>
void add_rows(riscv::Code<P>& code, Needs& needs, const Latencies& latencies) {
    for (const PackedRow& row : PACKED_ROWS) {
        needs.custom[code.custom.size()] = need_of(row, latencies);
        code.custom.push_back({row.match, row.mask, step_of<P>(row.op), 4});
    }
}

}  // namespace polyloom::minion::packed
