// SPDX-License-Identifier: Apache-2.0
// Kernels that the tests of running use.
#include <bit>

#include "sfpi.h"

using namespace sfpi;

// x * scale + offset, with the offset in a register that `prepare` writes.
void prepare(unsigned offset) { vConstFloatPrgm0 = std::bit_cast<float>(offset); }

template <int ROWS = 8>
void scaled(unsigned scale) {
    vFloat factor = std::bit_cast<float>(scale);
    for (int d = 0; d < ROWS; d++) {
        dst_reg[0] = dst_reg[0] * factor + vConstFloatPrgm0;
        dst_reg++;
    }
}

// A whole tile in one call.
void negated_tile() {
    for (int d = 0; d < 32; d++) {
        dst_reg[0] = -dst_reg[0];
        dst_reg++;
    }
}

// The second tile added to the first.
void added() {
    for (int d = 0; d < 8; d++) {
        dst_reg[0] = dst_reg[0] + dst_reg[32];
        dst_reg++;
    }
}

// A scalar branch, and arithmetic at run time.
void chosen(int count, bool doubles) {
    for (int d = 0; d < count; d++) {
        vFloat x = dst_reg[0];
        if (doubles) {
            x = x + x;
        } else {
            x = x * 0.25f;
        }
        dst_reg[0] = x;
        dst_reg++;
    }
}

// Only some lanes have a value.
void partly() {
    vFloat x = dst_reg[0];
    vFloat y;
    v_if(x < 0.0f) { y = x; }
    v_endif;
    dst_reg[0] = y;
}

// Says what it does.
void spoken(int count) {
    for (int d = 0; d < 8; d++) {
        dst_reg[0] = dst_reg[0] + 1.0f;
        dst_reg++;
    }
    DPRINT << "added to " << count << " of " << 8u << ENDL();
}

// Rounded at random.
void stochastic() {
    for (int d = 0; d < 8; d++) {
        dst_reg[0] = as<vFloat>(float_to_fp16b(dst_reg[0] * 1.01f, 1));
        dst_reg++;
    }
}

// More values than registers.
void many() {
    for (int d = 0; d < 8; d++) {
        vFloat x = dst_reg[0];
        vFloat a = x * 0.25f, b = x * 1.25f, c = x * 2.25f, e = x * 3.25f, f = x * 4.25f, g = x * 5.25f;
        vFloat h = x * 6.25f, i = x * 7.25f, j = x * 8.25f, k = x * 9.25f;
        vFloat s = a * b + k;
        s = s * c + j;
        s = s * e + i;
        s = s * f + h;
        dst_reg[0] = s * x + a * b + c * e + f * g + h * i + j * k;
        dst_reg++;
    }
}

// Numbers whose highest bit is no sign.
void complement() {
    for (int d = 0; d < 8; d++) {
        vUInt x = dst_reg[0];
        dst_reg[0] = ~x;
        dst_reg++;
    }
}
