// SPDX-License-Identifier: Apache-2.0
// A kernel whose shipping build uses SFPLOADMACRO, and the same without: max(x, limit) on each row, then (x + x) / 2.
#include "ckernel.h"
#include "ckernel_addrmod.h"
#include "cmath_common.h"
#include "sfpi.h"

using namespace ckernel;
using namespace sfpi;

void prepare() {
    vConstFloatPrgm0 = 0.5f;
    addr_mod_t{.dest = {.incr = 2}}.set(ADDR_MOD_6);
#ifndef WITHOUT_MACROS
    TTI_SFPSWAP(0, 12, 12, 9);  // template 0: D gets the greater of D and L12
    // Macro 0: the simple sub-unit swaps at once, the store follows after two instructions.
    TTI_SFPLOADI(0, 10, 0x80 | 4);
    TTI_SFPLOADI(0, 8, (2 << 3 | 3) << 8);
    TTI_SFPCONFIG(0, 4, 0);
    TTI_SFPCONFIG(0x110, 8, 1);  // the store has the load's mode; delays count instructions
#endif
}

void clamped() {
#ifdef WITHOUT_MACROS
    for (int d = 0; d < 8; d++) {
        dst_reg[0] = max(vFloat(dst_reg[0]), vConstFloatPrgm0);
        dst_reg++;
    }
#else
#pragma GCC unroll 8
    for (int d = 0; d < 8; d++) {
        TT_SFPLOADMACRO(d & 1, 0, ADDR_MOD_2, 0);
        TTI_SFPNOP;
    }
    TTI_SFPNOP;
    TTI_SFPNOP;
#endif
}

// The template belongs to the simple sub-unit; the sequence gives it to the MAD sub-unit.
void prepare_wrongly() {
    TTI_SFPSWAP(0, 12, 12, 9);
    TTI_SFPCONFIG(4 << 8, 4, 1);
}

void wrong() { TTI_SFPLOADMACRO(0, 0, ADDR_MOD_3, 0); }

// The word is meant to write L13; no macro is used or configured.
void captured() { TTI_SFPMOV(0, 0, 13, 0); }
