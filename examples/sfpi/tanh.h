// SPDX-License-Identifier: Apache-2.0
// tanh(x) by a table of three lines: --function 'tanh_table<8>' --init tanh_init
#include "sfpi.h"

using namespace sfpi;

void tanh_init() {
    l_reg[LRegs::LReg0] = vLut8si(0.90625f, 0.0f);
    l_reg[LRegs::LReg1] = vLut8si(0.09375f, 0.8125f);
    l_reg[LRegs::LReg2] = vLut8si(0.0f, 1.0f);
}

template <int ROWS = 8>
void tanh_table() {
    vUInt l0 = l_reg[LRegs::LReg0];
    vUInt l1 = l_reg[LRegs::LReg1];
    vUInt l2 = l_reg[LRegs::LReg2];
#pragma GCC unroll 8
    for (int d = 0; d < ROWS; d++) {
        vFloat x = dst_reg[0];
        dst_reg[0] = lut(x, l0, l1, l2);
        dst_reg++;
    }
    l_reg[LRegs::LReg0] = l0;
    l_reg[LRegs::LReg1] = l1;
    l_reg[LRegs::LReg2] = l2;
}
