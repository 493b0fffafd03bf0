/* SPDX-License-Identifier: Apache-2.0 */
/* Integers of 64 bits as signal libraries use them; test_control.py compares each function with its nest. */
#include <stdint.h>

typedef int64_t q63_t;
typedef int32_t q31_t;
typedef int16_t q15_t;

void wide_dot(uint32_t n, const q15_t a[n], const q15_t b[n], q31_t result[2]) {
  q63_t sum = 0;
  for (uint32_t i = 0; i < n; i++) sum += (q31_t)a[i] * b[i];
  result[0] = (q31_t)(sum >> 15);
  result[1] = (q31_t)sum;
}

void wide_products(uint32_t n, const q31_t a[n], const q31_t b[n], q31_t y[n]) {
  for (uint32_t i = 0; i < n; i++) y[i] = (q31_t)(((q63_t)a[i] * b[i]) >> 32) << 1;
}

static inline q31_t clip(q63_t x) {
  return ((q31_t)(x >> 32) != ((q31_t)x >> 31)) ? ((0x7FFFFFFF ^ ((q31_t)(x >> 63)))) : (q31_t)x;
}

void wide_clip(uint32_t n, const q31_t a[n], const q31_t b[n], q31_t y[n]) {
  uint32_t blkCnt = n;
  while (blkCnt > 0U) {
    *y++ = clip((q63_t)*a++ + *b++);
    blkCnt--;
  }
}

void wide_rounding(int n, const q31_t a[n], const q31_t b[n], q31_t y[n]) {
  for (int i = 0; i < n; i++) {
    q63_t p = (q63_t)a[i] * b[i] + (1LL << 30);
    q63_t shifted = p >> 31;
    if (shifted > 2147483647LL) shifted = 2147483647LL;
    if (shifted < -2147483647LL - 1) shifted = -2147483647LL - 1;
    y[i] = (q31_t)shifted;
  }
}

void wide_fir(int n, int taps, const q15_t x[n + taps], const q15_t h[taps], q15_t y[n]) {
  for (int i = 0; i < n; i++) {
    q63_t acc = 0;
    for (int k = 0; k < taps; k++) acc += (q63_t)x[i + k] * h[k];
    q31_t v = (q31_t)(acc >> 15);
    y[i] = (q15_t)(v > 32767 ? 32767 : v < -32768 ? -32768 : v);
  }
}

uint32_t wide_unsigned(int n, const uint32_t a[n], const uint32_t b[n], uint32_t high[n]) {
  uint64_t sum = 0;
  for (int i = 0; i < n; i++) {
    sum += (uint64_t)a[i] * b[i];
    high[i] = (uint32_t)(sum >> 32);
    sum &= 0xffffffffu;
  }
  return (uint32_t)sum;
}

q31_t wide_energy(int n, const q31_t a[n]) {
  q63_t sum = 0LL;
  for (int i = 0; i < n; i++) sum += ((q63_t)a[i] * a[i]) >> 14;
  return clip(sum >> 16);
}

void wide_left(int n, const int a[n], unsigned y[n]) {
  for (int i = 0; i < n; i++) {
    int64_t v = a[i];
    v <<= 33;
    v -= (int64_t)a[i] << 3;
    v = -v | 1;
    y[i] = (unsigned)(v >> 20) ^ (unsigned)(~v >> 40);
  }
}

int wide_compared(int n, const int a[n], const int b[n]) {
  int64_t least = INT64_MAX;
  int found = 0;
  for (int i = 0; i < n; i++) {
    int64_t v = (int64_t)a[i] * b[i];
    if (v < least) {
      least = v;
      found = b[i];
    }
  }
  return found + (least == 0);
}

struct words { uint32_t low; q31_t high; };
union product { q63_t whole; struct words word; };
typedef union { struct { q31_t first, second; } both; long long whole; } halves;

static inline q31_t rounded_product(q31_t x, q31_t y) {
  union product sum;
  sum.word.low = 1 << 30;
  sum.word.high = 0;
  sum.whole = sum.whole + (q63_t)x * y;
  return (q31_t)(sum.whole >> 31);
}

void wide_union_of_words(uint32_t n, const q31_t a[n], q31_t y[n]) {
  for (uint32_t i = 0; i < n; i++) y[i] = rounded_product(a[i] * 77777777, 1234567890);
}

void wide_words_assigned(uint32_t n, const q31_t a[n], q31_t y[n]) {
  for (uint32_t i = 0; i < n; i++) {
    halves z;
    z.whole = (long long)a[i] * -123456789;
    z.both.second = z.both.first ^ a[i];
    z.whole += 7;
    y[i] = z.both.second + z.both.first;
  }
}

void truncated_numbers(int n, const float x[n], const double d[n], int y[n], int z[n]) {
  for (int i = 0; i < n; i++) {
    int64_t wide = (int64_t)(x[i] * 1073741824.0f) + 3;
    y[i] = (int)(wide >> 7);
    int64_t sum = 0.0;
    sum += (int64_t)(d[i] * 12345678901.5);
    z[i] = (int)(sum >> 20) ^ (int)sum;
  }
}
