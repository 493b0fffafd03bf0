// SPDX-License-Identifier: Apache-2.0
// Products of tiles: what the plain and the vectorized arithmetic share. Rows of the result do not depend on each
// other, so that the vectorized one gives back rows whose values it leaves to the plain one.
#pragma once

#include <cstdint>
#include <cstring>

#include "tensor.hpp"

namespace polyloom::minion::tensor {

// A's words that are used, row by row, B's lines, and which rows the mask leaves.
struct Operands {
    alignas(32) uint32_t a[16][16];
    alignas(32) uint32_t b[16][16];
    uint16_t rows;
};

// The mask counts where the word says so.
Operands operands(const Fma& fma, const Tile& tile, uint16_t mask);

// The product of operands that were taken before: of the tile, its registers and TenC.
void multiply(const Fma& fma, const Operands& o, const Tile& tile, int mode, uint32_t& flags);

// One step of one element; `with_c` false in the first step of a first pass.
uint32_t step32(uint32_t a, uint32_t b, uint32_t c, bool with_c, int mode, uint32_t& flags);
uint32_t step16(uint32_t a, uint32_t b, uint32_t c, bool with_c, uint32_t& flags);

#if defined(__x86_64__)
// With AVX2 and FMA. The rows that are done; the others are as they were, and no flag is set for them.
uint16_t multiply32_wide(const Fma& fma, const Operands& o, Register* f, int mode, uint32_t& flags);
uint16_t multiply16_wide(const Fma& fma, const Operands& o, Register* f, uint32_t& flags);
uint16_t multiply8_wide(const Fma& fma, const Operands& o, const Tile& tile);
#endif

}  // namespace polyloom::minion::tensor
