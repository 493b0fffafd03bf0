// SPDX-License-Identifier: Apache-2.0
// Time of the memory system.
#pragma once

#include <cstdint>

#include "parameters.hpp"

namespace polyloom::minion {

enum class Use : uint8_t { load, load_b, load_l2, store, scalar, code, cache };

// When a line is there, and how long that takes where nothing is in its way.
struct Served {
    uint64_t there = 0, latency = 0;
    bool dram = false;
};

struct Fabric {
    explicit Fabric(Parameters& parameters) : parameters(&parameters) {}
    Served line(uint64_t cycle, unsigned minion, uint64_t address, Use use) {
        (void)minion, (void)address, (void)use;
        const uint64_t latency = (*parameters)[Parameter::l2];
        return {cycle + latency, latency, false};
    }
    [[nodiscard]] unsigned hops(unsigned a, unsigned b) const { return a == b ? 0 : 1; }

    Parameters* parameters;
};

}  // namespace polyloom::minion
