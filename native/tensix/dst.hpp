// SPDX-License-Identifier: Apache-2.0
// Rows of Dst: 1024 of 16 bits, or 512 of 32 bits whose upper and lower halves lie 8 rows apart. A row that ZEROACC
// marked reads as `undefined` until something writes it. Of a row of 32 bits only the upper half's mark is read or
// written (the public page of Dst).
#pragma once

#include "state.hpp"

namespace polyloom::tensix::dst {

// The 16-bit row of the upper half; the lower half is 8 rows on.
constexpr uint32_t upper(uint32_t row) { return (row & 0x1F8) << 1 | (row & 0x207); }

inline uint32_t read16(const MatrixState& m, uint32_t row, uint32_t column, uint32_t undefined = 0) {
    row &= 1023;
    return m.valid[row] ? m.dst[row][column] : undefined & 0xFFFF;
}

inline uint32_t read32(const MatrixState& m, uint32_t row, uint32_t column, uint32_t undefined = 0) {
    const uint32_t high = upper(row & 1023);
    return m.valid[high] ? uint32_t(m.dst[high][column]) << 16 | m.dst[high + 8][column] : undefined;
}

// Writes mark a row valid with its last column: until then the others still read as undefined.
inline void write16(MatrixState& m, uint32_t row, uint32_t column, uint32_t value) {
    m.dst[row & 1023][column] = uint16_t(value);
}
inline void write32(MatrixState& m, uint32_t row, uint32_t column, uint32_t value) {
    const uint32_t high = upper(row & 1023);
    m.dst[high][column] = uint16_t(value >> 16), m.dst[high + 8][column] = uint16_t(value);
}

inline void mark16(MatrixState& m, uint32_t row, bool valid) { m.valid[row & 1023] = valid; }
inline void mark32(MatrixState& m, uint32_t row, bool valid) { m.valid[upper(row & 1023)] = valid; }
inline void mark(MatrixState& m, uint32_t row, bool wide, bool valid) {
    wide ? mark32(m, row, valid) : mark16(m, row, valid);
}

// A row that only some columns of are written reads as 0 elsewhere: what it held before ZEROACC is gone.
inline void settle(MatrixState& m, uint32_t row, bool wide) {
    const uint32_t first = wide ? upper(row & 1023) : row & 1023;
    if (m.valid[first]) return;
    m.dst[first].fill(0);
    if (wide) m.dst[first + 8].fill(0);
    m.valid[first] = true;
}

}  // namespace polyloom::tensix::dst
