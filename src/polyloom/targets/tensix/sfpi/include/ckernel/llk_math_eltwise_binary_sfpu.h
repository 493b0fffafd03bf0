// SPDX-License-Identifier: Apache-2.0
// What kernels of binary functions include.
#ifndef POLYLOOM_CKERNEL_LLK_MATH_ELTWISE_BINARY_SFPU_H
#define POLYLOOM_CKERNEL_LLK_MATH_ELTWISE_BINARY_SFPU_H

#include "ckernel_sfpu.h"
#include "cmath_common.h"

#endif
