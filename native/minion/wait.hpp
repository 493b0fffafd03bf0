// SPDX-License-Identifier: Apache-2.0
// Why a hart does not run: what the chip wakes it by, and what a deadlock is explained from.
#pragma once

#include <cstdint>

namespace polyloom::minion {

enum class Waits : uint8_t {
    nothing,    // it runs, or waits for its turn
    place,      // `a`: the class of tensor operation whose place is occupied (enum Class)
    event,      // `a`: the number that tensor_wait named
    registers,  // a floating-point or SIMD instruction, for operations that have the registers
    credit,     // `a`: which of its two counters
    interrupt,  // wfi or stall
    disabled,   // by the shire's thread0_disable, thread1_disable or minion_feature
    ended,      // it passed or failed
};

struct Wait {
    Waits kind = Waits::nothing;
    uint32_t a = 0;
    uint64_t since = 0, pc = 0;
};

}  // namespace polyloom::minion
