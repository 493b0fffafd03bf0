// SPDX-License-Identifier: Apache-2.0
// 1 / (1 + exp(-x)) by a table of three lines: --function 'sigmoid_table<8>' --init sigmoid_init
#include "sfpi.h"

using namespace sfpi;

void sigmoid_init() {
    l_reg[LRegs::LReg0] = vLut8si(0.2265625f, 0.0f);
    l_reg[LRegs::LReg1] = vLut8si(0.1484375f, 0.09375f);
    l_reg[LRegs::LReg2] = vLut8si(0.0f, 0.484375f);
}

template <int ROWS = 8>
void sigmoid_table() {
    vUInt l0 = l_reg[LRegs::LReg0];
    vUInt l1 = l_reg[LRegs::LReg1];
    vUInt l2 = l_reg[LRegs::LReg2];
#pragma GCC unroll 8
    for (int d = 0; d < ROWS; d++) {
        vFloat x = dst_reg[0];
        dst_reg[0] = lut(x, l0, l1, l2) + 0.5f;
        dst_reg++;
    }
    l_reg[LRegs::LReg0] = l0;
    l_reg[LRegs::LReg1] = l1;
    l_reg[LRegs::LReg2] = l2;
}
