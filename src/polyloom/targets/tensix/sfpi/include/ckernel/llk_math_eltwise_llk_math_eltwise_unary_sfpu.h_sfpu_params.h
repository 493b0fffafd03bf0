// SPDX-License-Identifier: Apache-2.0
// What kernels of llk_math_eltwise_unary_sfpu.h functions include.
#ifndef POLYLOOM_CKERNEL_LLK_MATH_ELTWISE_LLK_MATH_ELTWISE_UNARY_SFPU_H_SFPU_PARAMS_H
#define POLYLOOM_CKERNEL_LLK_MATH_ELTWISE_LLK_MATH_ELTWISE_UNARY_SFPU_H_SFPU_PARAMS_H

#include "ckernel_sfpu.h"
#include "cmath_common.h"

#endif
