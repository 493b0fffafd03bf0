// SPDX-License-Identifier: Apache-2.0
// -1, 0 or 1: --function 'sign<8>'
#include "sfpi.h"

using namespace sfpi;

template <int ROWS = 8>
void sign() {
#pragma GCC unroll 8
    for (int d = 0; d < ROWS; d++) {
        vFloat x = dst_reg[0];
        vFloat result = setsgn(vFloat(1.0f), x);
        v_if (x == 0.0f) {
            result = 0.0f;
        }
        v_endif;
        dst_reg[0] = result;
        dst_reg++;
    }
}
