// SPDX-License-Identifier: Apache-2.0
// |x|: --function 'absolute<8>'
#include "sfpi.h"

template <int ROWS = 8>
void absolute() {
#pragma GCC unroll 8
    for (int d = 0; d < ROWS; d++) {
        sfpi::vFloat x = sfpi::dst_reg[0];
        sfpi::dst_reg[0] = sfpi::abs(x);
        sfpi::dst_reg++;
    }
}
