/* SPDX-License-Identifier: Apache-2.0 */
/* X1 := x1 + A y1 and x2 := x2 + A^T y2. */
#include <stdio.h>

#include "kernels.h"

static void kernel_mvt(int n, DATA_TYPE POLYBENCH_1D(x1, N, n), DATA_TYPE POLYBENCH_1D(x2, N, n),
                       DATA_TYPE POLYBENCH_1D(y1, N, n), DATA_TYPE POLYBENCH_1D(y2, N, n),
                       DATA_TYPE POLYBENCH_2D(A, N, N, n, n)) {
  int i, j;
#pragma scop
  for (i = 0; i < _PB_N; i++)
    for (j = 0; j < _PB_N; j++)
      x1[i] += A[i][j] * y1[j];
  for (i = 0; i < _PB_N; i++)
    for (j = 0; j < _PB_N; j++)
      x2[i] += A[j][i] * y2[j];
#pragma endscop
}

int main(void) {
  int n = 40;
  DATA_TYPE POLYBENCH_1D(x1, N, n), POLYBENCH_1D(x2, N, n), POLYBENCH_1D(y1, N, n), POLYBENCH_1D(y2, N, n),
           POLYBENCH_2D(A, N, N, n, n);
  FILL(x1);
  FILL(x2);
  FILL(y1);
  FILL(y2);
  FILL(A);
  kernel_mvt(n, x1, x2, y1, y2, A);
  PRINT(x2);
  return 0;
}
