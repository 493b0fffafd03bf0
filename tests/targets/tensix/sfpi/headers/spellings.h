// SPDX-License-Identifier: Apache-2.0
// Twenty kernels; spellings.py has the same in Python.
#include "sfpi.h"

using namespace sfpi;

void absolute() { dst_reg[0] = abs(vFloat(dst_reg[0])); }

void scaled() {
    vFloat x = dst_reg[0];
    dst_reg[0] = x * 1.5f + 0.25f;
}

void difference() {
    vFloat x = dst_reg[0], y = dst_reg[1];
    dst_reg[0] = x - y * y;
}

void negated() {
    vFloat x = dst_reg[0];
    dst_reg[0] = -x;
}

void leaky() {
    vFloat x = dst_reg[0];
    v_if (x < 0.0f) { x = x * 0.5f; }
    v_endif;
    dst_reg[0] = x;
}

void steps() {
    vFloat x = dst_reg[0], y = 3.0f;
    v_if (x < -1.0f) { y = 1.0f; }
    v_elseif (x < 1.0f) { y = 2.0f; }
    v_endif;
    dst_reg[0] = y;
}

void nested() {
    vFloat x = dst_reg[0], y = dst_reg[1];
    v_if (x >= 0.0f) {
        v_if (y >= 0.0f) { x = x + y; }
        v_else { x = x - y; }
        v_endif;
    }
    v_endif;
    dst_reg[0] = x;
}

void either() {
    vFloat x = dst_reg[0], y = 0.0f;
    v_if (x < -2.0f || x >= 2.0f) { y = 1.0f; }
    v_endif;
    dst_reg[0] = y;
}

void both() {
    vFloat x = dst_reg[0], y = dst_reg[1];
    v_if (x >= 0.0f && y < 1.0f) { x = y; }
    v_endif;
    dst_reg[0] = x;
}

void limited() { dst_reg[0] = clamp(vFloat(dst_reg[0]), -1.0f, 1.0f); }

void smaller() {
    vFloat x = dst_reg[0], y = dst_reg[1];
    dst_reg[0] = min(x, y);
}

void series() { dst_reg[0] = polynomial(vFloat(dst_reg[0]), 1.0f, 0.5f, 0.25f); }

void exponents() {
    vFloat x = dst_reg[0];
    vInt e = exexp(x);
    dst_reg[0].mode<DataLayout::I32>() = e + 3;
}

void mantissas() {
    vFloat x = dst_reg[0];
    dst_reg[0] = setexp(x, 127);
}

void signs() {
    vFloat x = dst_reg[0], y = dst_reg[1];
    dst_reg[0] = copysgn(x, y);
}

void bits() {
    vInt i = dst_reg[0].mode<DataLayout::I32>(), j = dst_reg[1].mode<DataLayout::I32>();
    dst_reg[0].mode<DataLayout::I32>() = (i & j) ^ ~i;
}

void sums() {
    vInt i = dst_reg[0].mode<DataLayout::I32>(), j = dst_reg[1].mode<DataLayout::I32>();
    dst_reg[0].mode<DataLayout::I32>() = i - j + 7;
}

void compared() {
    vInt i = dst_reg[0].mode<DataLayout::I32>(), j = 0;
    v_if (i < 100) { j = 1; }
    v_endif;
    dst_reg[0].mode<DataLayout::I32>() = j;
}

void counted() {
    vFloat x = dst_reg[0], y = 1.0f;
    v_block {
#pragma GCC unroll 3
        for (int k = 0; k < 3; k++) {
            x = x - 1.0f;
            v_and(x >= 0.0f);
            y = y * 2.0f;
        }
    }
    v_endblock;
    dst_reg[0] = y;
}

void exchanged() {
    vFloat x = dst_reg[0], y = dst_reg[1];
    swap(x, y);
    dst_reg[0] = x;
    dst_reg[1] = y;
}
