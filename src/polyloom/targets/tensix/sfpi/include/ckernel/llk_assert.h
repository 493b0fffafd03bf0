// SPDX-License-Identifier: Apache-2.0
// Assertions are checked as code, and not executed.
#ifndef POLYLOOM_CKERNEL_LLK_ASSERT_H
#define POLYLOOM_CKERNEL_LLK_ASSERT_H

#define LLK_ASSERT(condition, message) ((void)sizeof((condition)))
#define LLK_PANIC(condition, message) ((void)sizeof((condition)))
#define LLK_ASSERT_BLOCK(block) ((void)sizeof(decltype(((void)(block), 0))))

#endif
