// SPDX-License-Identifier: Apache-2.0
// The base of the kernels' own headers; the initialization of the vector unit is theirs, where they have it.
#ifndef POLYLOOM_CKERNEL_CKERNEL_SFPU_H
#define POLYLOOM_CKERNEL_CKERNEL_SFPU_H

#include <limits>

#include "ckernel.h"
#include "ckernel_defs.h"
#include "sfpi.h"
#if __has_include("sfpu/ckernel_sfpu_load_config.h")
#include "sfpu/ckernel_sfpu_load_config.h"
#endif
#if __has_include("sfpu/ckernel_sfpu_converter.h")
#include "sfpu/ckernel_sfpu_converter.h"
#endif
#if __has_include("llk_sfpu_types.h")
#include "llk_sfpu_types.h"
#endif

#endif
