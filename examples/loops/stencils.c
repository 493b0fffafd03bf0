/* SPDX-License-Identifier: Apache-2.0 */
/* Windows over arrays: polyloom run examples/loops/stencils.c --function fir4 n=1000 --on belt:silver */
#include <stdint.h>

void fir4(int n, const int32_t h[restrict 4], const int32_t x[restrict n + 3], int32_t y[restrict n]) {
  int32_t h0 = h[0], h1 = h[1], h2 = h[2], h3 = h[3];
  for (int i = 0; i < n; i++) y[i] = h0 * x[i] + h1 * x[i + 1] + h2 * x[i + 2] + h3 * x[i + 3];
}

void fir8(int n, const int16_t h[restrict 8], const int16_t x[restrict n + 7], int16_t y[restrict n]) {
  int32_t h0 = h[0], h1 = h[1], h2 = h[2], h3 = h[3], h4 = h[4], h5 = h[5], h6 = h[6], h7 = h[7];
  for (int i = 0; i < n; i++)
    y[i] = (int16_t)((h0 * x[i] + h1 * x[i + 1] + h2 * x[i + 2] + h3 * x[i + 3] + h4 * x[i + 4] + h5 * x[i + 5] +
                      h6 * x[i + 6] + h7 * x[i + 7]) >> 15);
}

void smooth(int n, const float x[restrict n + 2], float y[restrict n]) {
  for (int i = 0; i < n; i++) y[i] = 0.25f * x[i] + 0.5f * x[i + 1] + 0.25f * x[i + 2];
}

void differences(int n, const int64_t x[restrict n + 1], int64_t y[restrict n]) {
  for (int i = 0; i < n; i++) y[i] = x[i + 1] - x[i];
}

void laplace(int n, int m, const double x[restrict n + 2][m + 2], double y[restrict n][m]) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      y[i][j] = x[i][j + 1] + x[i + 2][j + 1] + x[i + 1][j] + x[i + 1][j + 2] - 4 * x[i + 1][j + 1];
}

void sobel(int n, const uint8_t x[restrict n + 2], const uint8_t y[restrict n + 2], uint8_t out[restrict n]) {
  for (int i = 0; i < n; i++) {
    int32_t g = x[i + 2] + 2 * y[i + 2] - x[i] - 2 * y[i];
    g = g < 0 ? -g : g;
    out[i] = (uint8_t)(g > 255 ? 255 : g);
  }
}
