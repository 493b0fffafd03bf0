// SPDX-License-Identifier: Apache-2.0
// See cmath_common.h.
#ifndef POLYLOOM_CKERNEL_LLK_MATH_COMMON_API_H
#define POLYLOOM_CKERNEL_LLK_MATH_COMMON_API_H

#include "cmath_common.h"

#endif
