/* SPDX-License-Identifier: Apache-2.0 */
/* Layer normalization of each row: mean and variance of the row, then a gain and a bias for each column. */
#include <math.h>

void layer_norm(int rows, int columns, float epsilon, const float x[rows][columns], const float gain[columns],
                const float bias[columns], float y[rows][columns]) {
  for (int i = 0; i < rows; i++) {
    float mean = 0.0f;
    for (int j = 0; j < columns; j++)
      mean += x[i][j];
    mean /= (float)columns;
    float variance = 0.0f;
    for (int j = 0; j < columns; j++)
      variance += (x[i][j] - mean) * (x[i][j] - mean);
    variance /= (float)columns;
    float scale = 1.0f / sqrtf(variance + epsilon);
    for (int j = 0; j < columns; j++)
      y[i][j] = (x[i][j] - mean) * scale * gain[j] + bias[j];
  }
}
