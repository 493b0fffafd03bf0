/* SPDX-License-Identifier: Apache-2.0 */
/* The convolution of an image with 3 x 3 weights, where they fit. */
#include <stdio.h>

#include "kernels.h"

static void kernel_conv2d(int n, int m, DATA_TYPE POLYBENCH_2D(x, N + 2, M + 2, n + 2, m + 2), DATA_TYPE w[3][3],
                          DATA_TYPE POLYBENCH_2D(y, N, M, n, m)) {
  int i, j, k, l;
#pragma scop
  for (i = 0; i < _PB_N; i++)
    for (j = 0; j < _PB_M; j++) {
      y[i][j] = SCALAR_VAL(0.0);
      for (k = 0; k < 3; k++)
        for (l = 0; l < 3; l++)
          y[i][j] += w[k][l] * x[i + k][j + l];
    }
#pragma endscop
}

int main(void) {
  int n = 14, m = 14;
  DATA_TYPE POLYBENCH_2D(x, N + 2, M + 2, n + 2, m + 2), w[3][3], POLYBENCH_2D(y, N, M, n, m);
  FILL(x);
  FILL(w);
  FILL(y);
  kernel_conv2d(n, m, x, w, y);
  PRINT(y);
  return 0;
}
