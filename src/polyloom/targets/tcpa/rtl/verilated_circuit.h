// SPDX-License-Identifier: Apache-2.0
// The circuit as Verilator makes it (Verilator 5 manual, "Connecting to Verilated models"): ports are numbers of C++, or
// words of 32 bits.
#pragma once
#include <cstddef>
#include <cstdint>

#include "Varray.h"
#include "verilated.h"

using Circuit = Varray;

#define PORT(circuit, name) (circuit).name

inline void evaluate(Circuit& circuit) { circuit.eval(); }

template <class T>
void set(T& port, uint64_t value) {
    port = T(value);
}

template <class T>
uint64_t bits(const T& port, unsigned low, unsigned width) {
    return uint64_t(port) >> low & ((uint64_t(1) << width) - 1);
}

template <std::size_t Words>
uint64_t bits(const VlWide<Words>& port, unsigned low, unsigned width) {
    uint64_t value = port[low / 32];
    if (low / 32 + 1 < Words) value |= uint64_t(port[low / 32 + 1]) << 32;
    return value >> low % 32 & ((uint64_t(1) << width) - 1);
}
