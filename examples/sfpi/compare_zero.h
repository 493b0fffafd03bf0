// SPDX-License-Identifier: Apache-2.0
// 1 where x is zero, else 0: --function 'is_zero<8>'
#include "sfpi.h"

using namespace sfpi;

template <int ROWS = 8>
void is_zero() {
#pragma GCC unroll 8
    for (int d = 0; d < ROWS; d++) {
        vFloat x = dst_reg[0];
        vFloat result = 0.0f;
        v_if (x == 0.0f) {
            result = 1.0f;
        }
        v_endif;
        dst_reg[0] = result;
        dst_reg++;
    }
}

// 1 where x is at most zero: --function 'at_most_zero<8>'
template <int ROWS = 8>
void at_most_zero() {
#pragma GCC unroll 8
    for (int d = 0; d < ROWS; d++) {
        vFloat x = dst_reg[0];
        v_if (x <= 0.0f) {
            dst_reg[0] = 1.0f;
        } v_else {
            dst_reg[0] = 0.0f;
        }
        v_endif;
        dst_reg++;
    }
}
