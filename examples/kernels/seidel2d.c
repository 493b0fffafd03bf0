/* SPDX-License-Identifier: Apache-2.0 */
/* Gauss-Seidel iteration with nine points in the plane, in place. */
#include <stdio.h>

#include "kernels.h"

static void kernel_seidel2d(int tsteps, int n, DATA_TYPE POLYBENCH_2D(A, N, N, n, n)) {
  int t, i, j;
#pragma scop
  for (t = 0; t <= _PB_TSTEPS - 1; t++)
    for (i = 1; i <= _PB_N - 2; i++)
      for (j = 1; j <= _PB_N - 2; j++)
        A[i][j] = (A[i - 1][j - 1] + A[i - 1][j] + A[i - 1][j + 1] + A[i][j - 1] + A[i][j] + A[i][j + 1]
                   + A[i + 1][j - 1] + A[i + 1][j] + A[i + 1][j + 1]) / SCALAR_VAL(9.0);
#pragma endscop
}

int main(void) {
  int tsteps = 20, n = 40;
  DATA_TYPE POLYBENCH_2D(A, N, N, n, n);
  FILL(A);
  kernel_seidel2d(tsteps, n, A);
  PRINT(A);
  return 0;
}
