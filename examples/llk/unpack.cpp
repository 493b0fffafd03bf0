// SPDX-License-Identifier: Apache-2.0
// T0: unpacks the tiles of A into Dst, 64 rows each.
#include "tile.h"

void run_kernel() {
    constexpr unsigned datums = 1024;
    configure(THCON_SEC0_REG0_TileDescriptor_ADDR32, operands::A.format | 1 << 4 | datums << 16);
    configure(THCON_SEC0_REG0_TileDescriptor_ADDR32 + 1, 1 | 1 << 16);
    configure(THCON_SEC0_REG0_TileDescriptor_ADDR32 + 2, 1);
    configure(THCON_SEC0_REG2_Out_data_format_ADDR32, FIELD(THCON_SEC0_REG2_Out_data_format, operands::A.format) |
                                                          FIELD(THCON_SEC0_REG2_Throttle_mode, 2) |
                                                          FIELD(THCON_SEC0_REG2_Unpack_If_Sel, 1));
    configure(UNP0_ADDR_BASE_REG_1_Base_ADDR32, FIELD(UNP0_ADDR_BASE_REG_1_Base, 4 * 32));
    // One step of W in Dst is a tile: 64 rows of 32 bytes.
    configure(UNP0_ADDR_CTRL_ZW_REG_1_Wstride_ADDR32, FIELD(UNP0_ADDR_CTRL_ZW_REG_1_Wstride, 64 * 32));
    TTI_SETADCXX(1, datums - 1, 0);
    for (unsigned tile = 0; tile < operands::A.tiles; tile++) {
        TTI_STALLWAIT(UNPACK | MISC, UNPACKER_BUSY);
        // The unpacker skips a header of 16 bytes in front of a tile.
        configure(THCON_SEC0_REG3_Base_address_ADDR32, operands::A[tile] / 16 - 1);
        TTI_STALLWAIT(UNPACK | MISC, STORES);
        TT_SETADCZW(1, tile, 0, 0, 0, 8);
        TTI_UNPACR(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1);
        TTI_STALLWAIT(SYNC, UNPACKER_BUSY);
        TTI_SEMPOST(FILLED);
        // The next address may be stored only when this tile is read.
        (void)TENSIX_REGISTER(TENSIX_WAIT_IDLE);
    }
}
