// SPDX-License-Identifier: Apache-2.0
// See cstdint.
#ifndef POLYLOOM_STD_STDINT_H
#define POLYLOOM_STD_STDINT_H

typedef signed char int8_t;
typedef unsigned char uint8_t;
typedef short int16_t;
typedef unsigned short uint16_t;
typedef long int32_t;
typedef unsigned long uint32_t;
typedef long long int64_t;
typedef unsigned long long uint64_t;
typedef int intptr_t;
typedef unsigned int uintptr_t;
// The vendor's tensix.h, of which whole threads are made, has it as another type.
#ifndef POLYLOOM_LLK
typedef unsigned int uint;
#endif

#define INT8_MAX 127
#define INT16_MAX 32767
#define INT32_MAX 2147483647L
#define INT32_MIN (-2147483647L - 1)
#define UINT8_MAX 255
#define UINT16_MAX 65535
#define UINT32_MAX 4294967295UL

#endif
