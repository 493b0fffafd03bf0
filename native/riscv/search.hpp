// SPDX-License-Identifier: Apache-2.0
// Exhaustive search for the shortest straight-line code that computes a function, on samples of its inputs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace polyloom::riscv {

// Instructions of two registers, those from ADDI_1 on of one.
enum class Step : uint8_t {
    ADD,
    SUB,
    AND,
    OR,
    XOR,
    SLT,
    SLTU,
    CZERO_EQZ,
    CZERO_NEZ,
    ANDN,
    ORN,
    XNOR,
    MIN,
    MAX,
    MINU,
    MAXU,
    SLL,
    SRL,
    SRA,
    ADDI_1,
    ADDI_M1,
    NOT,
    XORI_1,
    ANDI_1,
    SEQZ,
    SRAI_LAST,
    COUNT,
};

// An instruction on values: 0 is the constant zero, then come the inputs, then the results of the instructions before.
struct Line {
    Step step;
    uint8_t a, b;
    bool operator==(const Line&) const = default;
};

inline constexpr size_t SAMPLES = 64;

// All sequences of exactly `length` of the `allowed` instructions, up to `most` of them, that give `target` on every
// sample, use every input, and compute nothing twice or in vain. Sequences that differ only in the order of independent
// instructions are one. X is the register's type; every input and the target have SAMPLES values.
template <class X>
std::vector<std::vector<Line>> search(const std::vector<std::vector<X>>& inputs, const std::vector<X>& target,
                                      const std::vector<Step>& allowed, int length, size_t most);

}  // namespace polyloom::riscv
