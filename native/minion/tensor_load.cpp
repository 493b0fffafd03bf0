// SPDX-License-Identifier: Apache-2.0
// Loads: which accesses to memory they make, and how the bytes become lines. Interleaving ones gather four rows of 16
// bytes, or two of 32, into a line; transposing ones take element i of each source for line i.
#include <algorithm>
#include <cstring>

#include "tensor.hpp"

namespace polyloom::minion::tensor {

namespace {

struct Shape {
    uint8_t bytes;       // of an access
    uint8_t per_line;    // accesses of a line of the destination; 0 where every line needs all
    uint8_t element;     // bytes that stay together
    uint8_t transposed;  // accesses of a transposing load
};

Shape shape(Transform transform) {
    switch (transform) {
        case Transform::interleave8: return {16, 4, 1, 0};
        case Transform::interleave16: return {32, 2, 2, 0};
        case Transform::transpose8: return {64, 0, 1, 64};
        case Transform::transpose16: return {64, 0, 2, 32};
        case Transform::transpose32: return {64, 0, 4, 16};
        default: return {64, 1, 64, 0};
    }
}

// The first byte of the first element, within a line of the source.
unsigned offset(const Load& load, const Shape& s) { return s.transposed ? unsigned(load.address % LINE) : 0; }

uint8_t* line_of(const Load& load, unsigned i, uint8_t* to) {
    return to + LINE * (load.to_b ? i : (load.start + i) % SCP_LINES);
}

template <unsigned BYTES>
void transpose(const uint8_t* data, unsigned from, uint8_t* line) {
    for (unsigned j = 0; j < LINE / BYTES; ++j) std::memcpy(line + BYTES * j, data + LINE * j + from, BYTES);
}

template <unsigned BYTES>
void interleave(const uint8_t* data, uint8_t* line) {
    constexpr unsigned ROWS = 4 / BYTES;
    for (unsigned r = 0; r < ROWS; ++r)
        for (unsigned c = 0; c < 16; ++c)
            std::memcpy(line + BYTES * (ROWS * c + r), data + LINE * r + BYTES * c, BYTES);
}

void write(Transform transform, const uint8_t* data, unsigned from, uint8_t* line) {
    switch (transform) {
        case Transform::interleave8: return interleave<1>(data, line);
        case Transform::interleave16: return interleave<2>(data, line);
        case Transform::transpose8: return transpose<1>(data, from, line);
        case Transform::transpose16: return transpose<2>(data, from, line);
        case Transform::transpose32: return transpose<4>(data, from, line);
        default: std::memcpy(line, data, LINE);
    }
}

}  // namespace

unsigned sources(const Load& load) {
    const Shape s = shape(load.transform);
    return s.transposed ? s.transposed : unsigned(load.rows) * s.per_line;
}

Source source(const Load& load, unsigned k) {
    const Shape s = shape(load.transform);
    const uint64_t address = load.address - offset(load, s) + k * load.stride;
    return {address_of(address), s.bytes, uint8_t(s.transposed ? 0 : k / s.per_line)};
}

bool skipped(const Load& load, uint16_t mask, unsigned k) {
    const Shape s = shape(load.transform);
    return load.masked && !s.transposed && !(mask >> k / s.per_line & 1);
}

void place(const Load& load, uint16_t mask, const uint8_t* data, unsigned there, uint8_t* to) {
    const Shape s = shape(load.transform);
    if (s.transposed && there < s.transposed) return;
    const unsigned done = s.transposed ? load.rows : std::min<unsigned>(load.rows, there / s.per_line);
    for (unsigned i = 0; i < done; ++i) {
        if (load.masked && !(mask >> i & 1)) continue;
        const uint8_t* from = data + (s.transposed ? 0 : size_t(LINE) * i * s.per_line);
        write(load.transform, from, offset(load, s) + i * s.element, line_of(load, i, to));
    }
}

}  // namespace polyloom::minion::tensor
