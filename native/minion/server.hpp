// SPDX-License-Identifier: Apache-2.0
// What serves one line after another, in parts of a cycle.
#pragma once

#include <cstdint>

namespace polyloom::minion {

struct Server {
    static constexpr uint64_t PARTS = 1024;
    uint64_t free = 0, busy = 0;

    // How long a line that comes in a cycle waits, in parts.
    uint64_t take(uint64_t cycle, uint64_t service) {
        const uint64_t now = cycle * PARTS, from = free > now ? free : now;
        free = from + service, busy += service;
        return from - now;
    }
};

}  // namespace polyloom::minion
