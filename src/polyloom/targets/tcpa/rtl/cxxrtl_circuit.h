// SPDX-License-Identifier: Apache-2.0
// The circuit as Yosys writes it in C++ (Yosys manual, `write_cxxrtl`): ports are values, or wires of two values, of
// words of 32 bits. An underscore of a name becomes two.
#pragma once
#include <cstddef>
#include <cstdint>

#include "array.cc"

using Circuit = cxxrtl_design::p_array;

#define p_load_address p_load__address
#define p_load_word p_load__word
#define p_bank_fault p_bank__fault
#define p_write_address p_write__address
#define p_write_value p_write__value
#define PORT(circuit, name) (circuit).p_##name

inline void evaluate(Circuit& circuit) { circuit.step(); }

template <std::size_t Bits>
void set(cxxrtl::value<Bits>& port, uint64_t value) {
    for (std::size_t n = 0; n < port.chunks; ++n) port.data[n] = uint32_t(value >> 32 * n) & (n + 1 < port.chunks ? ~0u : port.msb_mask);
}

template <std::size_t Bits>
uint64_t bits(const cxxrtl::value<Bits>& port, unsigned low, unsigned width) {
    uint64_t value = port.data[low / 32];
    if (low / 32 + 1 < port.chunks) value |= uint64_t(port.data[low / 32 + 1]) << 32;
    return value >> low % 32 & ((uint64_t(1) << width) - 1);
}

template <std::size_t Bits>
uint64_t bits(const cxxrtl::wire<Bits>& port, unsigned low, unsigned width) {
    return bits(port.curr, low, width);
}
