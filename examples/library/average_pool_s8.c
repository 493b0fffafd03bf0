/* SPDX-License-Identifier: Apache-2.0 */
/* Average pooling of 2 x 2 in s8, with a stride of 2: the mean is rounded away from zero, and clamped. */
#include <stdint.h>

void average_pool_s8(int height, int width, int channels, int32_t low, int32_t high,
                     const int8_t x[2 * height][2 * width][channels], int8_t y[height][width][channels]) {
  for (int i = 0; i < height; i++)
    for (int j = 0; j < width; j++)
      for (int c = 0; c < channels; c++) {
        int32_t sum = 0;
        for (int r = 0; r < 2; r++)
          for (int s = 0; s < 2; s++)
            sum += x[2 * i + r][2 * j + s][c];
        sum = sum > 0 ? (sum + 2) / 4 : (sum - 2) / 4;
        sum = sum < low ? low : sum;
        y[i][j][c] = (int8_t)(sum > high ? high : sum);
      }
}
