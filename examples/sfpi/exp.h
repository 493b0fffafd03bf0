// SPDX-License-Identifier: Apache-2.0
// exp(x): a polynomial on [-ln 2 / 2, ln 2 / 2], scaled by a power of two: --function 'exponential<8>'
#include "sfpi.h"

using namespace sfpi;

template <int ROWS = 8>
void exponential() {
    for (int d = 0; d < ROWS; d++) {
        vFloat x = clamp(vFloat(dst_reg[0]), -87.0f, 88.0f);
        auto [whole, power] = round(x * 1.442695f);
        vFloat rest = x - whole * 0.6933594f;
        rest = rest + whole * 2.1219444e-4f;
        vFloat y = polynomial(rest, 1.0f, 1.0f, 0.5f, 0.16666667f, 0.041666667f, 0.0083333333f);
        dst_reg[0] = setexp(y, exexp(y, ExponentMode::Biased) + power);
        dst_reg++;
    }
}
