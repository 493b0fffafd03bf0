// SPDX-License-Identifier: Apache-2.0
#include "table_search.hpp"

#include "riscv/table.hpp"

namespace polyloom::riscv {
namespace {

int64_t extract(const Field& field, uint32_t word) {
    uint64_t bits = 0;
    for (int n = 0; n < field.count; ++n) {
        const Piece& p = field.pieces[n];
        bits |= uint64_t(word >> p.word & ((uint64_t(1) << p.width) - 1)) << p.value;
    }
    if (field.sign) return int64_t(bits << (64 - field.sign)) >> (64 - field.sign);
    return int64_t(bits) + field.base;
}

bool permitted(const Row& row, uint32_t word) {
    for (int number : row.checked) {
        if (number < 0) continue;
        const int64_t value = extract(FIELDS[number], word);
        for (int forbidden : FIELDS[number].forbidden)
            if (value == forbidden) return false;
    }
    return true;
}

}  // namespace

const Row* find_row(uint32_t word, unsigned xlen, uint32_t extensions) {
    for (const Row& row : ROWS) {
        if ((word & row.mask) != row.match || row.extensions & ~extensions) continue;
        if ((row.xlen == 0 || row.xlen == xlen) && permitted(row, word)) return &row;
    }
    return nullptr;
}

int64_t operand(const Row& row, int n, uint32_t word) {
    return row.operands[n] < 0 ? ~row.operands[n] : extract(FIELDS[row.operands[n]], word);
}

}  // namespace polyloom::riscv
