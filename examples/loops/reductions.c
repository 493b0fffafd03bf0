/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays in, a number out: polyloom run examples/loops/reductions.c --function dot n=1000 --on belt:silver */
#include <stdint.h>

int32_t dot(int n, const int32_t a[restrict n], const int32_t b[restrict n]) {
  int32_t sum = 0;
  for (int i = 0; i < n; i++) sum += a[i] * b[i];
  return sum;
}

float dot_float(int n, const float a[restrict n], const float b[restrict n]) {
  float sum = 0;
  for (int i = 0; i < n; i++) sum += a[i] * b[i];
  return sum;
}

int32_t clipped_sum(int n, int32_t low, int32_t high, const int32_t x[restrict n]) {
  int32_t sum = 0;
  for (int i = 0; i < n; i++) sum += x[i] < low ? low : x[i] > high ? high : x[i];
  return sum;
}

int64_t squares(int n, const int16_t x[restrict n]) {
  int64_t sum = 0;
  for (int i = 0; i < n; i++) sum += (int32_t)x[i] * x[i];
  return sum;
}

double norm(int n, const double x[restrict n]) {
  double most = 0;
  for (int i = 0; i < n; i++) {
    double size = __builtin_fabs(x[i]);
    if (size > most) most = size;
  }
  return most;
}

uint32_t fletcher(int n, const uint8_t x[restrict n]) {
  uint32_t low = 1, high = 0;
  for (int i = 0; i < n; i++) {
    low += x[i];
    high += low;
  }
  return high << 16 ^ low;
}
