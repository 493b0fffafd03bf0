// SPDX-License-Identifier: Apache-2.0
// 1 / x: a line as the first estimate and Newton's steps: --function 'reciprocal<8>' --init reciprocal_init
#include "sfpi.h"

using namespace sfpi;

void reciprocal_init() {
    vConstFloatPrgm0 = 48.0f / 17.0f;
    vConstFloatPrgm1 = -32.0f / 17.0f;
    vConstFloatPrgm2 = 2.0f;
}

template <int ROWS = 8>
void reciprocal() {
    for (int d = 0; d < ROWS; d++) {
        vFloat x = dst_reg[0];
        vFloat m = setsgn(setexp(x, 126), 0);
        vFloat y = m * vConstFloatPrgm1 + vConstFloatPrgm0;
#pragma GCC unroll 3
        for (int step = 0; step < 3; step++) y = y * (vConstFloatPrgm2 - m * y);
        vInt power = 126 - exexp(x, ExponentMode::Biased);
        y = setexp(y, power + exexp(y, ExponentMode::Biased));
        dst_reg[0] = copysgn(y, x);
        dst_reg++;
    }
}
