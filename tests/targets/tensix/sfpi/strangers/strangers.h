// SPDX-License-Identifier: Apache-2.0
// Functions as programmers of the tile write them: nested conditions, conditions as integers, values of enumerations.
#include "sfpi.h"
using namespace sfpi;

enum Level { LOW = 1, MIDDLE = 2, HIGH = 3 };
enum class Sign : int { minus = -1, zero = 0, plus = 1 };

void bands() {
    for (int d = 0; d < 8; d++) {
        vFloat x = dst_reg[0];
        vFloat y = 4.0f;
        v_if (x < 1.0f) { y = 1.0f; }
        v_elseif (x < 2.0f) { y = 2.0f; }
        v_elseif (x < 3.0f) { y = 3.0f; }
        v_endif;
        dst_reg[0] = y;
        dst_reg++;
    }
}

void nested_three() {
    for (int d = 0; d < 8; d++) {
        vFloat x = dst_reg[0], y = dst_reg[8];
        v_if (x >= 0.0f) {
            x = x + 1.0f;
            v_if (y >= 0.0f) {
                x = x * y;
                v_if (x >= 4.0f) { x = 4.0f; }
                v_endif;
            }
            v_endif;
        }
        v_endif;
        dst_reg[0] = x;
        dst_reg++;
    }
}

void nested_then_more() {
    for (int d = 0; d < 8; d++) {
        vFloat x = dst_reg[0], y = dst_reg[8];
        v_if (x >= 0.0f) {
            v_if (y >= 0.0f) { x = y; }
            v_endif;
            x = x + 1.0f;
        }
        v_endif;
        dst_reg[0] = x;
        dst_reg++;
    }
}

void nested_else() {
    for (int d = 0; d < 8; d++) {
        vFloat x = dst_reg[0], y = dst_reg[8];
        v_if (x >= 0.0f) {
            v_if (y >= 0.0f) { x = 1.0f; }
            v_else { x = 2.0f; }
            v_endif;
        }
        v_else {
            v_if (y >= 0.0f) { x = 3.0f; }
            v_else { x = 4.0f; }
            v_endif;
        }
        v_endif;
        dst_reg[0] = x;
        dst_reg++;
    }
}

void nested_pairs() {
    for (int d = 0; d < 8; d++) {
        vFloat x = dst_reg[0], y = dst_reg[8];
        v_if (x < 0.0f) {
            v_if (y < 0.0f) { y = -y; }
            v_endif;
            v_if (y >= 2.0f) { x = 0.0f; }
            v_endif;
        }
        v_endif;
        dst_reg[0] = x + y;
        dst_reg++;
    }
}

void nested_and() {
    for (int d = 0; d < 8; d++) {
        vFloat x = dst_reg[0], y = dst_reg[8];
        v_if (x > 0.0f && y > 0.0f) {
            v_if (x <= y) { x = y; }
            v_endif;
        }
        v_endif;
        dst_reg[0] = x;
        dst_reg++;
    }
}

void nested_or() {
    for (int d = 0; d < 8; d++) {
        vFloat x = dst_reg[0], y = dst_reg[8];
        v_if (x < 0.0f) {
            v_if (y < 0.0f || y >= 1.0f) { x = -x; }
            v_endif;
            x = x + y;
        }
        v_endif;
        dst_reg[0] = x;
        dst_reg++;
    }
}

void sign_of() {
    for (int d = 0; d < 8; d++) {
        vFloat x = dst_reg[0];
        vFloat y = 0.0f;
        v_if (x < 0.0f) { y = -1.0f; }
        v_elseif (x > 0.0f) { y = 1.0f; }
        v_endif;
        dst_reg[0] = y;
        dst_reg++;
    }
}

void clamp_chain() {
    for (int d = 0; d < 8; d++) {
        vFloat x = dst_reg[0];
        v_if (x < -2.0f) { x = -2.0f; }
        v_elseif (x >= 2.0f) { x = 2.0f; }
        v_endif;
        dst_reg[0] = x;
        dst_reg++;
    }
}

void three_way() {
    for (int d = 0; d < 8; d++) {
        vFloat x = dst_reg[0], y = dst_reg[8];
        vFloat z = 0.0f;
        v_if (x < y) { z = -1.0f; }
        v_elseif (x == y) { z = 0.5f; }
        v_else { z = 1.0f; }
        v_endif;
        dst_reg[0] = z;
        dst_reg++;
    }
}

void count_tests() {
    for (int d = 0; d < 8; d++) {
        vFloat x = dst_reg[0];
        vInt n = (x > 0.0f);
        n = n + (x > 1.0f);
        dst_reg[0] = int32_to_float(n, RoundMode::Nearest);
        dst_reg++;
    }
}

void test_sum() {
    for (int d = 0; d < 8; d++) {
        vFloat x = dst_reg[0], y = dst_reg[8];
        vInt n = (x > 0.0f) - (x < 0.0f);
        dst_reg[0] = int32_to_float(n, RoundMode::Nearest) * y;
        dst_reg++;
    }
}

void test_equal() {
    for (int d = 0; d < 8; d++) {
        vFloat x = dst_reg[0], y = dst_reg[8];
        v_if ((x < 0.0f) == (y < 0.0f)) { x = 0.0f; }
        v_endif;
        dst_reg[0] = x;
        dst_reg++;
    }
}

void test_differs() {
    for (int d = 0; d < 8; d++) {
        vFloat x = dst_reg[0], y = dst_reg[8];
        v_if ((x < 0.0f) != (y < 0.0f)) { x = -x; }
        v_endif;
        dst_reg[0] = x;
        dst_reg++;
    }
}

void test_scaled() {
    for (int d = 0; d < 8; d++) {
        vFloat x = dst_reg[0];
        vInt n = vInt(x >= 0.0f) << 3;
        dst_reg[0] = int32_to_float(n, RoundMode::Nearest);
        dst_reg++;
    }
}

void levels() {
    for (int d = 0; d < 8; d++) {
        vFloat x = dst_reg[0];
        vInt level = LOW;
        v_if (x >= 1.0f) { level = MIDDLE; }
        v_endif;
        v_if (x >= 2.0f) { level = HIGH; }
        v_endif;
        dst_reg[0] = int32_to_float(level, RoundMode::Nearest);
        dst_reg++;
    }
}

void level_tests() {
    for (int d = 0; d < 8; d++) {
        vFloat x = dst_reg[0];
        vInt e = exexp(x);
        v_if (e == MIDDLE) { x = 0.0f; }
        v_elseif (e >= HIGH) { e = e + LOW; x = setexp(x, 127 + HIGH); }
        v_endif;
        dst_reg[0] = x;
        dst_reg++;
    }
}

void scoped_signs() {
    for (int d = 0; d < 8; d++) {
        vFloat x = dst_reg[0];
        vInt s = Sign::zero;
        v_if (x < 0.0f) { s = Sign::minus; }
        v_endif;
        dst_reg[0] = int32_to_float(s, RoundMode::Nearest);
        dst_reg++;
    }
}

void early_return(int mode) {
    vFloat x = dst_reg[0];
    v_if (x < 0.0f) {
        if (mode == 0) {
            dst_reg[0] = 0.0f;
            return;
        }
        x = -x;
    }
    v_endif;
    dst_reg[0] = x;
}

void early_break(int count) {
    vFloat x = dst_reg[0];
    for (int k = 0; k < count; k++) {
        v_if (x < 4.0f) {
            x = x + x;
            if (k == 3) { break; }
            x = x + 1.0f;
        }
        v_endif;
    }
    dst_reg[0] = x;
}

void early_continue(int count) {
    for (int k = 0; k < count; k++) {
        vFloat x = dst_reg[0];
        v_if (x < 0.0f) {
            dst_reg[0] = -x;
            if (k & 1) { dst_reg++; continue; }
            dst_reg[0] = x + 1.0f;
        }
        v_endif;
        dst_reg++;
    }
}

void quarters() {
    for (int d = 0; d < 8; d++) {
        vFloat x = dst_reg[0];
        dst_reg[0] = x / 4.0f;
        dst_reg++;
    }
}

void six_deep() {
    vFloat x = dst_reg[0], y = dst_reg[8];
    v_if (x < 6.0f) {
        v_if (y < 5.0f) {
            v_if (x < 4.0f) {
                v_if (y < 3.0f) {
                    v_if (x < 2.0f) {
                        v_if (y < 1.0f) { x = y; }
                        v_else { x = 1.0f; }
                        v_endif;
                    }
                    v_endif;
                }
                v_endif;
            }
            v_endif;
        }
        v_endif;
    }
    v_endif;
    dst_reg[0] = x;
}

inline vInt below(vFloat v, int how) {
    if (how == 0) { return (v < 0.0f && v != 0.0f); }
    return (v >= 0.0f && v != 0.0f);
}

void predicate_called() {
    vFloat x = dst_reg[0];
    v_if (below(x, 5)) { x = 2.0f; }
    v_endif;
    dst_reg[0] = x;
}

void chain_of_compares() {
    vFloat x = dst_reg[0], y = dst_reg[8];
    vFloat z = 0.0f;
    v_if (x < y) {
        v_if (x != y) { z = 1.0f; }
        v_endif;
        dst_reg[2] = z;
    }
    v_elseif (x == y) { z = 2.0f; }
    v_elseif (!(x >= y)) { z = 3.0f; }
    v_endif;
    dst_reg[0] = z;
}

void leading_zeros() {
    vFloat x = dst_reg[0];
    vInt n = lz(x);
    v_if (x == 0.0f) { dst_reg[2] = vConst1; }
    v_endif;
    dst_reg[0] = n;
}

void literal_left() {
    vInt x = dst_reg[0];
    v_if (3 < x) { x = x + 1; }
    v_elseif (1 >= x) { x = x - 1; }
    v_endif;
    dst_reg[0] = x;
}

void sum_in_place() {
    vFloat x = dst_reg[0], y = dst_reg[8];
    v_if (y < 0.0f) { x = x + 3.0f; }
    v_endif;
    dst_reg[0] = x;
}

void sum_elsewhere() {
    vFloat x = dst_reg[0], y = dst_reg[8];
    v_if (x < 0.0f) { y = x + 3.0f; }
    v_endif;
    dst_reg[0] = y;
}

void tested_twice() {
    vInt x = dst_reg[0], y = dst_reg[8];
    v_if (x == 6 && y - 5 < 0) { dst_reg[2] = vConst1; }
    v_endif;
}

void unsigned_truth() {
    vFloat x = dst_reg[0];
    vUInt z = (x == 0.0f);
    v_if (z != 0) { x = 1.0f; }
    v_endif;
    dst_reg[0] = x;
}
