/* SPDX-License-Identifier: Apache-2.0 */
/* Softmax of each row: exponentials of the distances from the row's maximum, divided by their sum. */
#include <math.h>

void softmax(int rows, int columns, const float x[rows][columns], float y[rows][columns]) {
  for (int i = 0; i < rows; i++) {
    float most = x[i][0];
    for (int j = 0; j < columns; j++)
      most = x[i][j] > most ? x[i][j] : most;
    float sum = 0.0f;
    for (int j = 0; j < columns; j++) {
      y[i][j] = expf(x[i][j] - most);
      sum += y[i][j];
    }
    for (int j = 0; j < columns; j++)
      y[i][j] = y[i][j] / sum;
  }
}
