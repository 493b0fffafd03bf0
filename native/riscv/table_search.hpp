// SPDX-License-Identifier: Apache-2.0
// Finds words in the instruction table.
#pragma once

#include <cstdint>

#include "row.hpp"

namespace polyloom::riscv {

// The row of a word, or null where no instruction of the set is meant.
const Row* find_row(uint32_t word, unsigned xlen, uint32_t extensions);

// Operand number n of a row: rd, rs1, rs2, rs3, rm, imm.
int64_t operand(const Row& row, int n, uint32_t word);

}  // namespace polyloom::riscv
