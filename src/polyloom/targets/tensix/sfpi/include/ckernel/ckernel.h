// SPDX-License-Identifier: Apache-2.0
// What a kernel includes first: instructions, their fields, address modes, choices and the vector language.
#ifndef POLYLOOM_CKERNEL_CKERNEL_H
#define POLYLOOM_CKERNEL_CKERNEL_H

#include <array>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#include "ckernel_addrmod.h"
#include "ckernel_instr_params.h"
#include "ckernel_ops.h"
#include "llk_assert.h"
#include "llk_defs.h"
#include "lltt.h"
#include "sfpi.h"
#include "tensix_types.h"

#define TT_ALWAYS_INLINE sfpi_inline
#define FORCE_INLINE sfpi_inline
#define ALWI sfpi_inline
#define tt_reg_ptr
#define tt_l1_ptr

namespace ckernel {

// A seed for the generators of all lanes; they must have taken it before the next instruction asks for a number.
inline void init_prng_seed(std::uint32_t seed) {
    *reinterpret_cast<std::uint32_t volatile *>(TENSIX_CONFIG + 4 * PRNG_SEED_Seed_Val_ADDR32) = seed;
    for (int k = 0; k < 600; k++) TTI_SFPNOP;
}

}  // namespace ckernel

#endif
