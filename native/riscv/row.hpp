// SPDX-License-Identifier: Apache-2.0
// The types of the instruction table, table.hpp.
#pragma once

#include <cstdint>

namespace polyloom::riscv {

enum class Op : uint8_t;

// `width` bits of a value from bit `value` on stand in the word from bit `word` on.
struct Piece {
    uint8_t word, value, width;
};

// Values are sign-extended from `sign` bits, unless it is 0. A forbidden value makes the word illegal; -1 forbids
// nothing.
struct Field {
    Piece pieces[8];
    uint8_t count, sign, base;
    int forbidden[2];
};

// `operands` are field numbers, or complements of constants, for rd, rs1, rs2, rs3, rm, imm; `checked` are the fields
// with forbidden values. `xlen` is 0 for both. `writes_x` tells an rd among the integer registers.
struct Row {
    uint32_t match, mask, extensions;
    uint8_t xlen, size;
    Op op;
    bool writes_x;
    int8_t operands[6];
    int8_t checked[2];
};

}  // namespace polyloom::riscv
