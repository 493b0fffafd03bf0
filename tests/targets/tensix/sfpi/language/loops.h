// SPDX-License-Identifier: Apache-2.0
// The kernels of loops.py in C++.
#include "sfpi.h"
using namespace sfpi;
void softmax() {
    vFloat greatest = dst_reg[0];
    for (int i = 0; i < 7; i++) {
        vFloat x = dst_reg[0];
        greatest = max(greatest, x);
        dst_reg++;
    }
    vFloat total = 0.0f;
    for (int i = 0; i < 7; i++) {
        vFloat x = dst_reg[0] - greatest;
        vFloat power = 1.0f;
        for (int k = 0; k < 4; k++) { power = power * x * 0.25f + 1.0f; }
        v_if (power < 0.0f) { power = 0.0f; }
        v_endif;
        total = total + power;
        dst_reg[0] = power;
        dst_reg++;
    }
    vFloat inverse = setexp(total, 126);
    for (int k = 0; k < 3; k++) { inverse = inverse * (2.0f - total * inverse); }
    for (int i = 0; i < 7; i++) {
        dst_reg[0] = dst_reg[0] * inverse;
        dst_reg++;
    }
}
void fibonacci() {
    vFloat a = dst_reg[0], b = dst_reg[1];
    for (int i = 0; i < 9; i++) { vFloat next = a + b; a = b; b = next; }
    dst_reg[0] = a;
    dst_reg[1] = b;
}
void before_last() {
    vFloat x = dst_reg[0], old = x;
    for (int i = 0; i < 9; i++) { old = x; x = abs(x * 0.5f - 1.0f) * x; }
    dst_reg[0] = old;
    dst_reg[1] = x;
}
void guarded(float slope) {
    vFloat x = dst_reg[0];
    v_if (x < 2.0f) {
        for (int i = 0; i < 9; i++) {
            x = x + slope;
            v_if (x >= 1.0f) { x = x - 0.75f; }
            v_endif;
        }
    }
    v_endif;
    dst_reg[0] = x;
}
void chain() {
    for (int i = 0; i < 8; i++) {
        vFloat x = abs(vFloat(dst_reg[0])) * 0.5f;
        dst_reg[0] = x * x + x;
        dst_reg++;
    }
}
