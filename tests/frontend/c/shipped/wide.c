/* SPDX-License-Identifier: Apache-2.0 */
/* Products and sums of 64 bits within a statement, as signal libraries write them in their loops. */
#include "fixed.h"

void product_high(int n, const q31 a[n], const q31 b[n], q31 y[n]) {
  for (int i = 0; i < n; i++) y[i] = (q31)(((q63)a[i] * b[i]) >> 32);
}
void scaled(int n, const q31 a[n], q31 factor, q31 y[n]) {
  for (int i = 0; i < n; i++) {
    q31 x = (q31)((q63)a[i] * factor >> 31);
    y[i] = x;
  }
}
void accumulated(int n, const q31 a[n], const q31 b[n], q31 y[n]) {
  q31 sum = 0;
  for (int i = 0; i < n; i++) {
    sum = (q31)((((q63)sum << 32) + ((q63)a[i] * b[i])) >> 32);
    y[i] = sum;
  }
}
void updated(int n, const q31 a[n], const q31 b[n], q31 y[n]) {
  for (int i = 0; i < n; i++) y[i] += ((q63)a[i] * b[i]) >> 32;
}
void clipped_sum(int n, const q31 a[n], const q31 b[n], q31 y[n]) {
  for (int i = 0; i < n; i++) y[i] = clip_q63((q63)a[i] + b[i]);
}
void narrow_product(int n, const q15 a[n], const q15 b[n], q15 y[n]) {
  for (int i = 0; i < n; i++) y[i] = (q15)(((q63)a[i] * b[i] + 0x4000) >> 15);
}
void averaged(int n, const uint32_t a[n], const uint32_t b[n], uint32_t y[n]) {
  for (int i = 0; i < n; i++) y[i] = (uint32_t)(((uint64_t)a[i] + b[i] + 1) >> 1);
}
void two_parts(int n, const q31 a[n], const q31 b[n], q31 y[n]) {
  for (int i = 0; i < n; i++) y[i] = (q31)(((q63)a[i] * b[i]) >> 32) + (q31)(((q63)b[i] * b[i]) >> 31) - a[i];
}
void wide_constants(int n, const int x[n], int y[n]) {
  for (int i = 0; i < n; i++) {
    y[i] += 1ll;
    y[i] = y[i] + ((x[i] * 3L) >> 1);
  }
}
void mean(int n, const int x[n], const unsigned d[n], int y[n]) {
  for (int i = 0; i < n; i++) {
    q63 sum = (q63)x[i] * 1000003 * x[i];
    y[i] = (int)(sum / (d[i] | 1U)) + (int)((sum / -7) >> 8) - (int)(sum % 1000) + (int)(-sum / 2147483647);
  }
}
void quotients(int n, const int x[n], const unsigned d[n], int y[n], unsigned z[n]) {
  for (int i = 0; i < n; i++) {
    uint64_t a = (uint64_t)(q63)x[i] * 0x9E3779B97F4A7C15u;
    unsigned by = (d[i] * 2654435761u) | 1u;
    y[i] = (int)(a / by) ^ (int)(a / by >> 32);
    z[i] = (unsigned)(a % by) + (unsigned)((q63)a / (int)by);
  }
}
void by_small(int n, const int x[n], const unsigned d[n], int y[n]) {
  for (int i = 0; i < n; i++) {
    uint64_t a = ((uint64_t)d[i] << 32) | (unsigned)x[i];
    unsigned by = (d[i] >> (x[i] & 31)) | 1u;
    y[i] = (int)(a / by) + 3 * (int)(a % by) + 5 * (int)(a / by >> 32);
  }
}
