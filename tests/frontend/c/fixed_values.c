/* SPDX-License-Identifier: Apache-2.0 */
/* Steps and strides that are arguments: test_fixed_values.py compiles each for one value. */
#include <stdint.h>

struct decimator {
  uint8_t factor;
  uint16_t taps;
  const float *coefficients;
};

void decimate(const struct decimator *S, const float *x, float *y, uint32_t n) {
  for (uint32_t i = 0; i < n; i++) {
    float sum = 0.0f;
    for (uint16_t k = 0; k < S->taps; k++) sum += S->coefficients[k] * x[i * S->factor + k];
    y[i] = sum;
  }
}

void spread(int n, int stride, const float *x, float *y) {
  for (int i = 0; i < n; i++) y[i * stride] = x[i];
}

void step(int n, int by, float x[n]) {
  for (int i = 0; i < n; i += by) x[i] = 2.0f * x[i];
}
