// SPDX-License-Identifier: Apache-2.0
// T2: packs the tiles of Dst into C; each of four packers has a face.
#include "tile.h"

constexpr unsigned FACE = 512 / 16;  // bytes of a face of BF16, in units of 16

#define PACKER(section, number, packer)                                                                                \
    configure(THCON_SEC##section##_REG##number##_L1_Dest_addr_ADDR32, packer * FACE);                                  \
    configure(THCON_SEC##section##_REG##number##_Disable_zero_compress_ADDR32,                                         \
              FIELD(THCON_SEC##section##_REG##number##_Disable_zero_compress, 1) |                                     \
                  FIELD(THCON_SEC##section##_REG##number##_Out_data_format, operands::C.format) |                      \
                  FIELD(THCON_SEC##section##_REG##number##_In_data_format, operands::C.format) |                       \
                  FIELD(THCON_SEC##section##_REG##number##_Sub_l1_tile_header_size, packer > 0));                      \
    configure(DEST_TARGET_REG_CFG_PACK_SEC##packer##_Offset_ADDR32,                                                    \
              FIELD(DEST_TARGET_REG_CFG_PACK_SEC##packer##_Offset, 16 * packer))

void run_kernel() {
    configure(PCK_EDGE_OFFSET_SEC0_mask_ADDR32, FIELD(PCK_EDGE_OFFSET_SEC0_mask, 0xFFFF));
    configure(PCK0_ADDR_CTRL_ZW_REG_0_Wstride_ADDR32, FIELD(PCK0_ADDR_CTRL_ZW_REG_0_Wstride, 64 * 32));
    configure(ALU_FORMAT_SPEC_REG2_Dstacc_ADDR32, FIELD(ALU_FORMAT_SPEC_REG2_Dstacc, operands::C.format));
    PACKER(0, 1, 0);
    PACKER(0, 8, 1);
    PACKER(1, 1, 2);
    PACKER(1, 8, 3);
    TTI_STALLWAIT(PACK | CONFIG, STORES);
    TTI_SETADCXX(4, 255, 0);
    for (unsigned tile = 0; tile < operands::A.tiles; tile++) {
        // The address of the first packer decides for all; bit 31 says that the others are relative to it.
        const unsigned address = (operands::C[tile] / 16 - 1) | 1u << 31;
        TT_SETDMAREG((address & 0xFFFF) >> 14, address & 0x3FFF, 0, 8);
        TT_SETDMAREG(address >> 30, address >> 16 & 0x3FFF, 0, 9);
        TTI_WRCFG(4, 0, THCON_SEC0_REG1_L1_Dest_addr_ADDR32);
        TT_SETADCZW(4, 0, 0, tile, 0, 2);
        TTI_SEMWAIT(PACK | SYNC, DONE, IS_EMPTY);
        TTI_PACR(0, 0, 15, 0, 0, 0, 1);
        TTI_STALLWAIT(SYNC | CONFIG, PACKERS_BUSY);
        TTI_SEMGET(DONE);
    }
}
