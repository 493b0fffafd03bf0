// SPDX-License-Identifier: Apache-2.0
// x within [lower, upper], by comparisons: --function 'limited<8>' lower=0xbf800000 upper=0x3f800000
#include <bit>

#include "sfpi.h"

using namespace sfpi;

template <int ROWS = 8>
void limited(unsigned lower, unsigned upper) {
    vFloat low = std::bit_cast<float>(lower);
    vFloat high = std::bit_cast<float>(upper);
#pragma GCC unroll 8
    for (int d = 0; d < ROWS; d++) {
        vFloat x = dst_reg[0];
        v_if (x < low) {
            x = low;
        } v_elseif (x >= high) {
            x = high;
        }
        v_endif;
        dst_reg[0] = x;
        dst_reg++;
    }
}

// The same by minimum and maximum: --function 'limited_by_order<8>'
template <int ROWS = 8>
void limited_by_order(unsigned lower, unsigned upper) {
    vFloat low = std::bit_cast<float>(lower);
    vFloat high = std::bit_cast<float>(upper);
#pragma GCC unroll 8
    for (int d = 0; d < ROWS; d++) {
        vFloat x = dst_reg[0];
        dst_reg[0] = clamp(x, low, high);
        dst_reg++;
    }
}
