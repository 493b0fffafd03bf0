// SPDX-License-Identifier: Apache-2.0
// What the three threads share: the instructions, the configuration, the operands of the run, and two semaphores.
#pragma once
#include "operands.h"
#include "tensix_config.h"
#include "tensix_wormhole.h"

#define FIELD(name, value) (unsigned(value) << name##_SHAMT)

constexpr unsigned FILLED = 1 << 1, DONE = 1 << 2;  // tiles in Dst that are unpacked, and those that are computed
constexpr unsigned IS_EMPTY = 1;                    // SEMWAIT waits while a semaphore is 0
constexpr unsigned MISC = 1 << 0, SYNC = 1 << 1, PACK = 1 << 2, UNPACK = 1 << 3, CONFIG = 1 << 7, VECTOR = 1 << 8;
constexpr unsigned UNPACKER_BUSY = 2, PACKERS_BUSY = 0x78, STORES = 1 << 13, VECTOR_BUSY = 1 << 14;

inline void configure(unsigned word, unsigned value) { TENSIX_REGISTER(TENSIX_CONFIG + 4 * word) = value; }
