// SPDX-License-Identifier: Apache-2.0
// What of the words that tensor CSRs take does nothing, or nothing that the manual defines: reserved bits, fields that
// the operation does not have, the low bits of addresses and strides. The machine takes such words without a sign, so
// that one that was damaged or miscalculated is noticed here or not at all. Source: ET Programmer's Reference Manual,
// 9.3.
#pragma once

#include <cstdint>

#include "tensor_words.hpp"

namespace polyloom::minion::tensor {

// `word` and `x31` are the bits that are set and ignored, `undefined` says of what the result is not defined.
struct Unused {
    uint64_t word = 0, x31 = 0;
    uint64_t high = 0;     // bits of an address that only translation looks at
    bool address = false;  // rows of a store do not lie at multiples of their size, and go to one below
    const char* undefined = nullptr;

    [[nodiscard]] bool any() const { return word || x31 || high || address || undefined; }
};

Unused unused(const Load& load, uint64_t word, uint64_t x31);
Unused unused(const LoadL2& load, uint64_t word, uint64_t x31);
Unused unused(const Fma& fma, uint64_t word);
Unused unused(const Quant& quant, uint64_t word);
Unused unused(const Store& store, uint64_t word, uint64_t x31);
Unused unused(const Reduce& reduce, uint64_t word);
Unused unused(const Coop& coop, uint64_t word);
Unused unused_of_wait(uint64_t word);

}  // namespace polyloom::minion::tensor
