// SPDX-License-Identifier: Apache-2.0
// See ckernel_ops.h.
#ifndef POLYLOOM_CKERNEL_CKERNEL_COMMON_OPS_H
#define POLYLOOM_CKERNEL_CKERNEL_COMMON_OPS_H

#include "ckernel_ops.h"

#endif
