/* SPDX-License-Identifier: Apache-2.0 */
/* Counters of several kinds: polyloom run examples/loops/induction.c --function every_third n=100 --on belt:silver */
#include <stdint.h>

void every_third(int n, const int32_t x[restrict 3 * n], int32_t y[restrict n]) {
  for (int i = 0, k = 0; i < n; i++, k += 3) y[i] = x[k];
}

void reverse(int n, const int16_t x[restrict n], int16_t y[restrict n]) {
  for (int i = n - 1; i >= 0; i--) y[n - 1 - i] = x[i];
}

void interleave(int n, const float x[restrict n], const float y[restrict n], float out[restrict 2 * n]) {
  for (int i = 0; i < n; i++) {
    out[2 * i] = x[i];
    out[2 * i + 1] = y[i];
  }
}

void ramp(int n, int32_t from, int32_t step, int32_t y[restrict n]) {
  int32_t value = from;
  for (int i = 0; i < n; i++) {
    y[i] = value;
    value += step;
  }
}

void column(int n, int m, int k, const int32_t x[restrict n][m], int32_t y[restrict n]) {
  if (k < 0 || k >= m) return;
  for (int i = 0; i < n; i++) y[i] = x[i][k];
}

/* Two counters and a count down. */
uint32_t strides(uint32_t n) {
  uint32_t sum = 0, step = 1;
  for (uint32_t i = n & 1023; i != 0; i--) {
    sum = (sum << 3 | sum >> 29) ^ step * i;
    step += 2;
  }
  return sum;
}
