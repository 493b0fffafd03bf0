// SPDX-License-Identifier: Apache-2.0
// What the macros of tensix_wormhole.h and tensix_blackhole.h stand on, and the addresses that a core reaches.
#ifndef POLYLOOM_TENSIX_H
#define POLYLOOM_TENSIX_H

#include <stdint.h>

#define TENSIX_REGISTER(address) (*(volatile uint32_t*)(uintptr_t)(address))

// Local memory of a core, and the instruction memory of NC.
#define TENSIX_LOCAL_RAM 0xFFB00000u
#define TENSIX_NC_IRAM 0xFFC00000u
// Devices.
#define TENSIX_TDMA 0xFFB11000u
#define TENSIX_DEBUG 0xFFB12000u
#define TENSIX_SOFT_RESET 0xFFB121B0u
#define TENSIX_NOC0 0xFFB20000u
#define TENSIX_NOC1 0xFFB30000u
#define TENSIX_MOP_CONFIG 0xFFB80000u  // nine words of the core's own thread, write only
#define TENSIX_GPRS 0xFFE00000u        // 64 words of a T core's own thread; of B, all 192
#define TENSIX_PUSH_T0 0xFFE40000u     // of a T core, its own thread; B enters after the MOP expander
#define TENSIX_PUSH_T1 0xFFE50000u
#define TENSIX_PUSH_T2 0xFFE60000u
#define TENSIX_PCBUF 0xFFE80000u
#define TENSIX_WAIT_IDLE 0xFFE80004u                            // a load returns when the thread is idle
#define TENSIX_WAIT_MOP 0xFFE80008u                             // a load returns when the MOP expander is idle
#define TENSIX_SEMAPHORE(number) (0xFFE80020u + 4u * (number))  // read: value; write: bit 0 set takes, else posts
#define TENSIX_MAILBOX(core) (0xFFEC0000u + 0x1000u * (core))
#define TENSIX_CONFIG 0xFFEF0000u

// Bits of the soft reset register; a core with its bit set is held.
#define TENSIX_RESET_B (1u << 11)
#define TENSIX_RESET_T0 (1u << 12)
#define TENSIX_RESET_T1 (1u << 13)
#define TENSIX_RESET_T2 (1u << 14)
#define TENSIX_RESET_NC (1u << 18)

#define TENSIX_FIELD(value, shift, width) (((uint32_t)(value) & ((1u << (width)) - 1u)) << (shift))
#define TENSIX_ROTATED(word) (((word) << 2) | ((word) >> 30))
#define TENSIX_PUSH(word) ((void)(TENSIX_REGISTER(TENSIX_PUSH_T0) = (word)))
#define TENSIX_INLINE(word) __asm__ volatile(".word %0" : : "i"(TENSIX_ROTATED(word)))

#endif
