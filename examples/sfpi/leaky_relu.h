// SPDX-License-Identifier: Apache-2.0
// x, or slope * x where x is negative: --function 'leaky_relu<8>' slope=0x3dcccccd
#include <bit>

#include "sfpi.h"

using namespace sfpi;

template <int ROWS = 8>
void leaky_relu(unsigned slope) {
    vFloat factor = std::bit_cast<float>(slope);
#pragma GCC unroll 8
    for (int d = 0; d < ROWS; d++) {
        vFloat x = dst_reg[0];
        v_if (x < 0.0f) {
            x *= factor;
        }
        v_endif;
        dst_reg[0] = x;
        dst_reg++;
    }
}
