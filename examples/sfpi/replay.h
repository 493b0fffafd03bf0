// SPDX-License-Identifier: Apache-2.0
// A loop whose body repeats: --function 'repeated<8>'
#include "sfpi.h"

using namespace sfpi;

template <int ROWS = 8>
void repeated() {
#pragma GCC unroll 8
    for (int d = 0; d < ROWS; d++) {
        vFloat x = dst_reg[0];
        dst_reg[0] = polynomial(x, 0.5f, 0.25f, 0.125f) * x;
        dst_reg++;
    }
}
