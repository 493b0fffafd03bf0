/* SPDX-License-Identifier: Apache-2.0 */
/* What the C kernels share, with the macros that PolyBench/C's sources use. Elements are floats unless -D DATA_TYPE_IS_INT or
   -D DATA_TYPE_IS_DOUBLE says otherwise; extents are arguments, or constants with -D CONSTANT_EXTENTS -D NI=20 and so on. */
#ifndef KERNELS_H
#define KERNELS_H

#if defined DATA_TYPE_IS_INT
#define DATA_TYPE int
#define SCALAR_VAL(x) (int)(x)
#elif defined DATA_TYPE_IS_DOUBLE
#define DATA_TYPE double
#define SCALAR_VAL(x) x
#define SQRT_FUN(x) sqrt(x)
#else
#define DATA_TYPE float
#define SCALAR_VAL(x) x##f
#define SQRT_FUN(x) sqrtf(x)
#endif

#ifdef CONSTANT_EXTENTS
#define EXTENT(constant, argument) (constant)
#else
#define EXTENT(constant, argument) (argument)
#endif
#define POLYBENCH_1D(var, d1, n1) var[EXTENT(d1, n1)]
#define POLYBENCH_2D(var, d1, d2, n1, n2) var[EXTENT(d1, n1)][EXTENT(d2, n2)]
#define POLYBENCH_3D(var, d1, d2, d3, n1, n2, n3) var[EXTENT(d1, n1)][EXTENT(d2, n2)][EXTENT(d3, n3)]

#define _PB_N n
#define _PB_M m
#define _PB_NI ni
#define _PB_NJ nj
#define _PB_NK nk
#define _PB_NL nl
#define _PB_NM nm
#define _PB_NP np
#define _PB_NQ nq
#define _PB_NR nr
#define _PB_NX nx
#define _PB_NY ny
#define _PB_TMAX tmax
#define _PB_TSTEPS tsteps

#define MAX(a, b) ((a) > (b) ? (a) : (b))
#define MIN(a, b) ((a) < (b) ? (a) : (b))

#ifdef __clang__
#define ASSUME(condition) __builtin_assume(condition)
#else
#define ASSUME(condition) (void)0
#endif

/* For each main: every element a different fraction, letters in turn, and a line that depends on all results. */
#define FILL(array) fill((DATA_TYPE *)(array), (int)(sizeof(array) / sizeof(DATA_TYPE)))
#define SPELL(text) spell(text, (int)sizeof(text))
#define PRINT(array) print(#array, sizeof((array)[0]), &(array)[0], sizeof(array))

static inline void fill(DATA_TYPE *values, int count) {
  for (int i = 0; i < count; i++)
    values[i] = (DATA_TYPE)(i % 97 + 1) / (DATA_TYPE)(i % 89 + 2);
}

static inline void spell(signed char *text, int count) {
  for (int i = 0; i < count; i++)
    text[i] = "ACGT"[i * i % 7 % 4];
}

static inline void print(const char *name, size_t unit, const void *data, size_t size) {
  unsigned long sum = unit;
  for (size_t i = 0; i < size; i++)
    sum = sum * 31 + ((const unsigned char *)data)[i];
  printf("%s %lx\n", name, sum);
}

#endif
