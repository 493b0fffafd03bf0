/* SPDX-License-Identifier: Apache-2.0 */
/* Finite impulse response in q15, as signal libraries for small cores have it: products of 16 bits, sums of 32, and a result
   that is shifted back and saturated. `x` begins with the taps - 1 samples before the block. */
#include <stdint.h>

void fir_q15(int n, int taps, const int16_t x[n + taps - 1], const int16_t h[taps], int16_t y[n]) {
  for (int i = 0; i < n; i++) {
    int32_t sum = 0;
    for (int k = 0; k < taps; k++)
      sum += (int32_t)x[i + k] * h[k];
    sum >>= 15;
    if (sum > 32767)
      sum = 32767;
    if (sum < -32768)
      sum = -32768;
    y[i] = (int16_t)sum;
  }
}
