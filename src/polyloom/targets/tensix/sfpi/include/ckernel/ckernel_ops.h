// SPDX-License-Identifier: Apache-2.0
// Instructions as macros, from the table of the target: TT_OP_X is a word, TT_X and TTI_X execute it.
#ifndef POLYLOOM_CKERNEL_CKERNEL_OPS_H
#define POLYLOOM_CKERNEL_CKERNEL_OPS_H

#include <cstdint>

#include "sfpi_operations.h"
#ifdef ARCH_BLACKHOLE
#include "tensix_blackhole.h"
#else
#include "tensix_wormhole.h"
#endif

#undef TENSIX_PUSH
#undef TENSIX_INLINE
#define TENSIX_PUSH(word) __sfpi_word(int(word))
#define TENSIX_INLINE(word) __sfpi_word(int(word))
#define TTI_INSN(word) __sfpi_word(int(word))

// Instructions without operands are written without parentheses in kernels.
#undef TT_OP_NOP
#undef TT_OP_SFPNOP
#undef TT_OP_DMANOP
#undef TTI_NOP
#undef TTI_SFPNOP
#undef TTI_DMANOP
#define TT_OP_NOP 0x02000000u
#define TT_OP_SFPNOP 0x8F000000u
#define TT_OP_DMANOP 0x60000000u
#define TTI_NOP TENSIX_INLINE(TT_OP_NOP)
#define TTI_SFPNOP TENSIX_INLINE(TT_OP_SFPNOP)
#define TTI_DMANOP TENSIX_INLINE(TT_OP_DMANOP)
#define TT_SFPNOP TTI_SFPNOP

#include "ckernel_defs.h"

#endif
