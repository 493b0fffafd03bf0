// SPDX-License-Identifier: Apache-2.0
// Nothing of the vendor's globals is used by vector kernels.
#ifndef POLYLOOM_CKERNEL_CKERNEL_GLOBALS_H
#define POLYLOOM_CKERNEL_CKERNEL_GLOBALS_H

#include <cstdint>

#endif
