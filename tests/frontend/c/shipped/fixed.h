/* SPDX-License-Identifier: Apache-2.0 */
/* Types and plain C fallbacks of intrinsics, as headers of signal libraries have them. */
#ifndef FIXED_H
#define FIXED_H
#include <stdint.h>

typedef int8_t q7;
typedef int16_t q15;
typedef int32_t q31;
typedef int64_t q63;
typedef enum { STATUS_OK = 0, STATUS_ARGUMENT = -1, STATUS_LENGTH = -2 } status;
typedef struct { q31 re, im; } complex_q31;

#define INLINE static inline

INLINE int32_t saturate(int32_t value, uint32_t bits) {
  if ((bits >= 1U) && (bits <= 32U)) {
    const int32_t most = (int32_t)((1U << (bits - 1U)) - 1U);
    const int32_t least = -1 - most;
    if (value > most) {
      return most;
    } else if (value < least) {
      return least;
    }
  }
  return value;
}

INLINE q31 add_saturating(q31 a, q31 b) {
  q31 sum = (q31)((uint32_t)a + (uint32_t)b);
  if (((a ^ b) & 0x80000000) == 0) {
    if ((sum ^ a) & 0x80000000) sum = a < 0 ? (q31)0x80000000 : 0x7FFFFFFF;
  }
  return sum;
}

INLINE q31 clip_q63(q63 x) { return ((q31)(x >> 32) != ((q31)x >> 31)) ? (0x7FFFFFFF ^ ((q31)(x >> 63))) : (q31)x; }

INLINE q15 clip_q31(q31 x) { return ((x >> 16) != (x >> 15)) ? (q15)(0x7FFF ^ (x >> 31)) : (q15)x; }

INLINE q31 multiply_high(q31 a, q31 b) { return (q31)(((q63)a * b) >> 32); }

INLINE q31 multiply_doubling(q31 a, q31 b) {
  q31 result = 0;
  q63 round = 1 << 30;
  if ((a < 0) ^ (b < 0)) round = 1 - round;
  q63 product = (q63)a * (q63)b + round;
  result = (q31)(product / (1ll << 31));
  if ((a == b) && (a == (q31)0x80000000)) result = 0x7FFFFFFF;
  return result;
}

INLINE q31 divide_rounding(q31 value, q31 exponent) {
  q31 result = 0;
  const q31 mask = (1 << exponent) - 1;
  q31 rest = mask & value;
  result = value >> exponent;
  q31 threshold = mask >> 1;
  if (result < 0) threshold++;
  if (rest > threshold) result++;
  return result;
}

INLINE q31 requantize(q31 value, q31 multiplier, q31 shift) {
  const q31 left = shift > 0 ? shift : 0;
  const q31 right = shift > 0 ? 0 : -shift;
  return divide_rounding(multiply_doubling(value * (1 << left), multiplier), right);
}

INLINE int32_t larger(int32_t a, int32_t b) { return a > b ? a : b; }
INLINE int32_t smaller(int32_t a, int32_t b) { return a < b ? a : b; }
INLINE complex_q31 product_of(complex_q31 a, complex_q31 b) {
  complex_q31 p = {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
  return p;
}
#endif
