// SPDX-License-Identifier: Apache-2.0
// A board without hardware: Linux, as an emulator of user programs offers it. The mailbox is the standard input, the
// array's port the standard output, both little-endian. System calls are those of the kernel's tables; nothing of a C
// library is needed.
#include <stddef.h>

#include "board.h"

#if defined(__riscv) || defined(__aarch64__)
enum { READ = 63, WRITE = 64, EXIT = 93 };
#elif defined(__mips__)
enum { READ = 4003, WRITE = 4004, EXIT = 4001 };
#endif

static long call(long number, long file, const void *data, size_t size) {
#if defined(__riscv)
    register long a0 __asm__("a0") = file;
    register const void *a1 __asm__("a1") = data;
    register size_t a2 __asm__("a2") = size;
    register long a7 __asm__("a7") = number;
    __asm__ volatile("ecall" : "+r"(a0) : "r"(a1), "r"(a2), "r"(a7) : "memory");
    return a0;
#elif defined(__aarch64__)
    register long x0 __asm__("x0") = file;
    register const void *x1 __asm__("x1") = data;
    register size_t x2 __asm__("x2") = size;
    register long x8 __asm__("x8") = number;
    __asm__ volatile("svc 0" : "+r"(x0) : "r"(x1), "r"(x2), "r"(x8) : "memory");
    return x0;
#elif defined(__mips__)
    register long v0 __asm__("$2") = number;
    register long a0 __asm__("$4") = file;
    register const void *a1 __asm__("$5") = data;
    register size_t a2 __asm__("$6") = size;
    register long failed __asm__("$7");
    __asm__ volatile("syscall"
                     : "+r"(v0), "=r"(failed)
                     : "r"(a0), "r"(a1), "r"(a2)
                     : "memory", "$1", "$3", "$8", "$9", "$10", "$11", "$12", "$13", "$14", "$15", "$24", "$25", "hi",
                       "lo");
    return failed ? -1 : v0;
#else
#error "no system calls for this architecture"
#endif
}

// The first thing that runs: Linux has set the stack up.
void _start(void) { board_stop(main()); }

bool mailbox_receive(uint32_t *word) {
    uint8_t b[4];
    for (size_t have = 0; have < sizeof b;) {
        const long got = call(READ, 0, b + have, sizeof b - have);
        if (got <= 0) return false;
        have += (size_t)got;
    }
    *word = b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
    return true;
}

void array_write(uint32_t word) {
    const uint8_t b[4] = {(uint8_t)word, (uint8_t)(word >> 8), (uint8_t)(word >> 16), (uint8_t)(word >> 24)};
    for (size_t done = 0; done < sizeof b;) {
        const long put = call(WRITE, 1, b + done, sizeof b - done);
        if (put <= 0) board_stop(1);
        done += (size_t)put;
    }
}

_Noreturn void board_stop(int code) {
    for (;;) call(EXIT, code, NULL, 0);
}
