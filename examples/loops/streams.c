/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays in, an array out: polyloom run examples/loops/streams.c --function saxpy n=1000 --on belt:silver */
#include <stdint.h>

void saxpy(int n, float a, const float x[restrict n], float y[restrict n]) {
  for (int i = 0; i < n; i++) y[i] = a * x[i] + y[i];
}

void scale(int n, int32_t factor, const int32_t x[restrict n], int32_t y[restrict n]) {
  for (int i = 0; i < n; i++) y[i] = factor * x[i];
}

void blend(int n, const uint8_t x[restrict n], const uint8_t y[restrict n], const uint8_t mask[restrict n],
           uint8_t out[restrict n]) {
  for (int i = 0; i < n; i++) out[i] = (uint8_t)((x[i] * mask[i] + y[i] * (255 - mask[i]) + 127) / 256);
}

/* Complex numbers as pairs, in fixed point. */
void complex_product(int n, const int32_t a[restrict 2 * n], const int32_t b[restrict 2 * n],
                     int32_t c[restrict 2 * n]) {
  for (int i = 0; i < n; i++) {
    int32_t ar = a[2 * i], ai = a[2 * i + 1], br = b[2 * i], bi = b[2 * i + 1];
    c[2 * i] = ar * br - ai * bi;
    c[2 * i + 1] = ar * bi + ai * br;
  }
}

void widen(int n, const int16_t x[restrict n], int64_t y[restrict n]) {
  for (int i = 0; i < n; i++) y[i] = (int64_t)x[i] * x[i] - 1;
}

void magnitude(int n, const double x[restrict n], const double y[restrict n], double r[restrict n]) {
  for (int i = 0; i < n; i++) r[i] = __builtin_sqrt(x[i] * x[i] + y[i] * y[i]);
}
