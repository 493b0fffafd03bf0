/* SPDX-License-Identifier: Apache-2.0 */
/* Functions within loops: polyloom run examples/loops/calls.c --function distances n=100 --on belt:silver */
#include <stdint.h>

static int32_t clamp(int32_t x, int32_t low, int32_t high) { return x < low ? low : x > high ? high : x; }

static int32_t distance(int32_t a, int32_t b) { return a > b ? a - b : b - a; }

__attribute__((noinline)) static uint32_t mix(uint32_t x) {
  x ^= x >> 16;
  x *= 0x7feb352d;
  x ^= x >> 15;
  return x * 0x846ca68b;
}

__attribute__((noinline)) static int32_t root(int32_t x) {
  int32_t r = 0;
  for (int32_t bit = 1 << 14; bit > 0; bit >>= 1)
    if ((r + bit) * (r + bit) <= x) r += bit;
  return r;
}

void limit(int n, int32_t low, int32_t high, const int32_t x[restrict n], int32_t y[restrict n]) {
  for (int i = 0; i < n; i++) y[i] = clamp(x[i], low, high);
}

int32_t distances(int n, const int16_t a[restrict n], const int16_t b[restrict n]) {
  int32_t sum = 0;
  for (int i = 0; i < n; i++) sum += distance(a[i], b[i]);
  return sum;
}

void hash(int n, const uint32_t x[restrict n], uint32_t y[restrict n]) {
  for (int i = 0; i < n; i++) y[i] = mix(x[i]);
}

uint32_t digest(int n, const uint32_t x[restrict n]) {
  uint32_t state = 1;
  for (int i = 0; i < n; i++) state = mix(state + x[i]);
  return state;
}

void roots(int n, const uint16_t x[restrict n], int32_t y[restrict n]) {
  for (int i = 0; i < n; i++) y[i] = root(x[i]);
}

int32_t mixed(int n, const int32_t x[restrict n]) {
  int32_t sum = 0;
  for (int i = 0; i < n; i++)
    if (x[i] > 0) sum += (int32_t)(mix((uint32_t)x[i]) >> 16);
  return sum;
}
