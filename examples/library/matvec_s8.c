/* SPDX-License-Identifier: Apache-2.0 */
/* Fully connected layer in s8: sums of 32 bits with a bias, requantized by a multiplier of 31 fractional bits and a rounding
   shift, moved by the output's zero point and clamped: the arithmetic of quantized networks. */
#include <stdint.h>

/* value * multiplier / 2^(31 + shift), rounded to nearest, as quantized networks define it. */
static int32_t requantize(int32_t value, int32_t multiplier, int32_t shift) {
  int64_t product = (int64_t)value * multiplier;
  int32_t high = (int32_t)((product + (1LL << 30)) >> 31);
  return shift > 0 ? (high + (1 << (shift - 1))) >> shift : high;
}

void matvec_s8(int rows, int columns, int32_t input_offset, int32_t output_offset, int32_t multiplier, int32_t shift,
               const int8_t weights[rows][columns], const int8_t x[columns], const int32_t bias[rows], int8_t y[rows]) {
  for (int i = 0; i < rows; i++) {
    int32_t sum = bias[i];
    for (int j = 0; j < columns; j++)
      sum += weights[i][j] * (x[j] + input_offset);
    sum = requantize(sum, multiplier, shift) + output_offset;
    sum = sum < -128 ? -128 : sum;
    y[i] = (int8_t)(sum > 127 ? 127 : sum);
  }
}
