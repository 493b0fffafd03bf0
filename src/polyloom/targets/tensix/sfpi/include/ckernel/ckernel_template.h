// SPDX-License-Identifier: Apache-2.0
// Expansion of macro operations is not used by vector kernels.
#ifndef POLYLOOM_CKERNEL_CKERNEL_TEMPLATE_H
#define POLYLOOM_CKERNEL_CKERNEL_TEMPLATE_H

#include "ckernel_ops.h"

#endif
