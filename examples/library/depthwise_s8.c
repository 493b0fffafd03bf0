/* SPDX-License-Identifier: Apache-2.0 */
/* Depthwise convolution of 3 x 3 in s8, without padding: each channel has its own filter, bias and multiplier. */
#include <stdint.h>

/* value * multiplier / 2^(31 + shift), rounded to nearest, as quantized networks define it. */
static int32_t requantize(int32_t value, int32_t multiplier, int32_t shift) {
  int64_t product = (int64_t)value * multiplier;
  int32_t high = (int32_t)((product + (1LL << 30)) >> 31);
  return shift > 0 ? (high + (1 << (shift - 1))) >> shift : high;
}

void depthwise_s8(int height, int width, int channels, int32_t input_offset, int32_t output_offset, int32_t shift,
                  const int8_t x[height + 2][width + 2][channels], const int8_t filter[3][3][channels],
                  const int32_t bias[channels], const int32_t multiplier[channels], int8_t y[height][width][channels]) {
  for (int i = 0; i < height; i++)
    for (int j = 0; j < width; j++)
      for (int c = 0; c < channels; c++) {
        int32_t sum = bias[c];
        for (int r = 0; r < 3; r++)
          for (int s = 0; s < 3; s++)
            sum += filter[r][s][c] * (x[i + r][j + s][c] + input_offset);
        sum = requantize(sum, multiplier[c], shift) + output_offset;
        sum = sum < -128 ? -128 : sum;
        y[i][j][c] = (int8_t)(sum > 127 ? 127 : sum);
      }
}
