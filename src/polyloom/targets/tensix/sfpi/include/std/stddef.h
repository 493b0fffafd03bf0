// SPDX-License-Identifier: Apache-2.0
#ifndef POLYLOOM_STD_STDDEF_H
#define POLYLOOM_STD_STDDEF_H

typedef __SIZE_TYPE__ size_t;
typedef __PTRDIFF_TYPE__ ptrdiff_t;
#define offsetof(type, member) __builtin_offsetof(type, member)
#ifndef NULL
#define NULL __null
#endif

#endif
