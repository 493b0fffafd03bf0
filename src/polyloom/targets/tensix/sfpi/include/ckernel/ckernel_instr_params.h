// SPDX-License-Identifier: Apache-2.0
// Names for values of instruction fields, as kernels spell them.
#ifndef POLYLOOM_CKERNEL_CKERNEL_INSTR_PARAMS_H
#define POLYLOOM_CKERNEL_CKERNEL_INSTR_PARAMS_H

#include <cstdint>

namespace ckernel {

struct p_sfpu {
    static constexpr std::uint32_t LREG0 = 0, LREG1 = 1, LREG2 = 2, LREG3 = 3, LREG4 = 4, LREG5 = 5, LREG6 = 6,
                                   LREG7 = 7, LREG11 = 11, LREG12 = 12, LREG13 = 13, LREG14 = 14;
    static constexpr std::uint32_t LCONST_0_8373 = 8, LCONST_0 = 9, LCONST_1 = 10, LCONST_neg1 = 11, LTILEID = 15;
    static constexpr std::uint32_t kCONST_1_FP16B = 0x3F80, kCONST_1_FP16A = 0x3C00, kCONST_0 = 0, kCONST_Exp_8Bit = 0,
                                   kCONST_Exp_5Bit = 1;
};

struct p_sfpswap {
    static constexpr std::uint32_t UNCONDITIONALLY = 0, ALL_ROWS_MAX = 1, ROWS_01_MAX = 2, ROWS_02_MAX = 3,
                                   ROWS_03_MAX = 4, ROW_0_MAX = 5, ROW_1_MAX = 6, ROW_2_MAX = 7, ROW_3_MAX = 8;
};

struct p_setrwc {
    static constexpr std::uint32_t CLR_NONE = 0, CLR_A = 1, CLR_B = 2, CLR_AB = 3;
    static constexpr std::uint32_t SET_A = 1, SET_B = 2, SET_AB = 3, SET_D = 4, SET_AD = 5, SET_BD = 6, SET_ABD = 7,
                                   SET_F = 8, SET_A_F = 9, SET_B_F = 10, SET_AB_F = 11, SET_D_F = 12, SET_AD_F = 13,
                                   SET_BD_F = 14, SET_ABD_F = 15;
    static constexpr std::uint32_t CR_A = 1, CR_B = 2, CR_AB = 3, CR_D = 4, CR_AD = 5, CR_BD = 6, CR_ABD = 7,
                                   C_TO_CR_MODE = 8;
};

struct p_stall {
    static constexpr std::uint32_t NONE = 0, THCON = 1 << 0, UNPACK0 = 1 << 1, UNPACK1 = 1 << 2,
                                   UNPACK = UNPACK0 | UNPACK1, PACK0 = 1 << 3, PACK1 = 1 << 4, PACK2 = 1 << 5,
                                   PACK3 = 1 << 6, PACK = PACK0 | PACK1 | PACK2 | PACK3, MATH = 1 << 7,
                                   SRCA_CLR = 1 << 8, SRCB_CLR = 1 << 9, SRCA_VLD = 1 << 10, SRCB_VLD = 1 << 11,
                                   XMOV = 1 << 12, TRISC_CFG = 1 << 13, SFPU1 = 1 << 14, WAIT_SFPU = 1 << 14;
    static constexpr std::uint32_t STALL_TDMA = 1 << 0, STALL_SYNC = 1 << 1, STALL_PACK = 1 << 2, STALL_UNPACK = 1 << 3,
                                   STALL_XMOV = 1 << 4, STALL_THCON = 1 << 5, STALL_MATH = 1 << 6, STALL_CFG = 1 << 7,
                                   STALL_SFPU = 1 << 8, STALL_THREAD = 0x1FF;
    static constexpr std::uint32_t STALL_ON_ZERO = 1, STALL_ON_MAX = 2;
};

}  // namespace ckernel

#endif
