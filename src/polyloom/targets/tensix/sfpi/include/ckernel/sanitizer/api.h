// SPDX-License-Identifier: Apache-2.0
// Nothing is checked at run time.
#ifndef POLYLOOM_CKERNEL_SANITIZER_API_H
#define POLYLOOM_CKERNEL_SANITIZER_API_H

#define LLK_SAN(...)

#endif
