// SPDX-License-Identifier: Apache-2.0
// clang-format Language: C
// Checked arithmetic, inline in every file but where text counts; memory.c has it there.
// The least number is none of those that are computed with, so that every other one has a negative.
ARITHMETIC Int add(Context *c, Int a, Int b) {
    Int r;
    return __builtin_add_overflow(a, b, &r) || r < -INT_MOST ? overflow(c) : r;
}

ARITHMETIC Int sub(Context *c, Int a, Int b) {
    Int r;
    return __builtin_sub_overflow(a, b, &r) || r < -INT_MOST ? overflow(c) : r;
}

ARITHMETIC Int mul(Context *c, Int a, Int b) {
    Int r;
    return __builtin_mul_overflow(a, b, &r) || r < -INT_MOST ? overflow(c) : r;
}
