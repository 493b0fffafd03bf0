// SPDX-License-Identifier: Apache-2.0
// T1: doubles every number of a tile, 32 at a time.
#include "tile.h"

void run_kernel() {
    // Address mode 3 goes on to the next 32 numbers, mode 2 stays.
    TTI_SETC16(ADDR_MOD_DST_SEC3_DestIncr_ADDR32, 2);
    TTI_SETRWC(0, 0, 0, 0, 0, 15);
    for (unsigned tile = 0; tile < operands::A.tiles; tile++) {
        TTI_SEMWAIT(VECTOR, FILLED, IS_EMPTY);
        for (unsigned vector = 0; vector < 32; vector++) {
            TTI_SFPLOAD(0, 2, 2, 0);
            TTI_SFPADD(10, 0, 0, 1, 0);  // L1 = 1 * L0 + L0
            TTI_SFPNOP();
            TTI_SFPSTORE(1, 2, 3, 0);
        }
        TTI_STALLWAIT(SYNC, VECTOR_BUSY);
        TTI_SEMGET(FILLED);
        TTI_SEMPOST(DONE);
    }
}
