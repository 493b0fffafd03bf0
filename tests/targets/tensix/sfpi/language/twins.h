// SPDX-License-Identifier: Apache-2.0
// Kernels that functions.py spells in Python (test_twins.py).
#include "sfpi.h"

using namespace sfpi;

void twin_reciprocal() {
    vFloat x = dst_reg[0];
    vFloat m = setsgn(setexp(x, 126), 0);
    vFloat y = m * vConstFloatPrgm1 + vConstFloatPrgm0;
    y = y * (vConstFloatPrgm2 - m * y);
    y = y * (vConstFloatPrgm2 - m * y);
    vInt power = 126 - exexp(x, ExponentMode::Biased);
    y = setexp(y, power + exexp(y, ExponentMode::Biased));
    dst_reg[0] = copysgn(y, x);
}

void twin_exponential() {
    vFloat x = clamp(vFloat(dst_reg[0]), -87.0f, 88.0f);
    auto [whole, power] = round(x * 1.442695f);
    vFloat rest = x - whole * 0.6933594f;
    rest = rest + whole * 2.1219444e-4f;
    vFloat y = polynomial(rest, 1.0f, 1.0f, 0.5f, 0.16666667f);
    dst_reg[0] = setexp(y, exexp(y, ExponentMode::Biased) + power);
}

void twin_silly() {
    vFloat a = dst_reg[0] + 2.0f;
    dst_reg[3] = a * -dst_reg[1] + vConstFloatPrgm0 + 0.5f;
    v_if ((a >= 4.0f && a < 8.0f) || (a >= 12.0f && a < 16.0f)) {
        vInt b = exexp(a, ExponentMode::Biased);
        b &= 0xAA;
        v_if (b >= 130) {
            dst_reg[6] = setexp(a, 127);
        }
        v_endif;
    } v_elseif (a == 3.0f) {
        dst_reg[7] = abs(a);
    } v_else {
        vInt exp = lz(as<vInt>(a)) - 19;
        exp = ~exp;
        dst_reg[8] = -setexp(a, exp);
    }
    v_endif;
}

void twin_nested() {
    vFloat x = dst_reg[0];
    vFloat y = 0.0f;
    v_if (x > 0.0f) {
        y = x + 1.0f;
        v_if (x > 2.0f) {
            y = y * x;
        } v_else {
            y = y - x;
        }
        v_endif;
    }
    v_endif;
    dst_reg[1] = y;
}

void twin_block() {
    vFloat x = dst_reg[0];
    vFloat y = 1.0f;
    v_block {
#pragma GCC unroll 3
        for (int k = 0; k < 3; k++) {
            x = x - 1.0f;
            v_and (x >= 0.0f);
            y *= 2.0f;
        }
    }
    v_endblock;
    dst_reg[1] = y;
}

void twin_bits() {
    vInt x = dst_reg[0];
    vUInt u = as<vUInt>(x);
    dst_reg[1] = as<vInt>((u >> 4) ^ (u << 3));
    dst_reg[2] = ~x & 0xFF;
    dst_reg[3] = x + 5;
    dst_reg[4] = 7 - x;
}

void twin_compare() {
    vInt x = dst_reg[0];
    vInt y = dst_reg[1];
    vInt z = 0;
    v_if (x < y) {
        z = 1;
    } v_elseif (x == 100) {
        z = 2;
    } v_else {
        z = 3;
    }
    v_endif;
    dst_reg[2] = z;
}

void twin_square() {
    vFloat x = dst_reg[0];
    vFloat y = dst_reg[1];
    dst_reg[2] = x * x - y * y;
    dst_reg[3] = 2.0f - x * y;
    dst_reg[4] = -(x * y);
}

void twin_fields() {
    vFloat x = dst_reg[0];
    dst_reg[1] = addexp(x, 3);
    dst_reg[2] = setman(x, 0x400000);
    dst_reg[3] = exman(x, MantissaMode::WithUnitBit);
    dst_reg[4] = setsgn(x, 1);
}

void twin_order() {
    vFloat x = dst_reg[0];
    vFloat y = dst_reg[1];
    dst_reg[2] = min(x, y);
    dst_reg[3] = max(x, 0.5f);
    swap(x, y);
    dst_reg[4] = x;
    dst_reg[5] = y;
}
