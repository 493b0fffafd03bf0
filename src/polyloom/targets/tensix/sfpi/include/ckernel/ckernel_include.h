// SPDX-License-Identifier: Apache-2.0
// See ckernel.h.
#ifndef POLYLOOM_CKERNEL_CKERNEL_INCLUDE_H
#define POLYLOOM_CKERNEL_CKERNEL_INCLUDE_H

#include "ckernel_addrmod.h"
#include "ckernel_instr_params.h"
#include "ckernel_ops.h"

#endif
