/* SPDX-License-Identifier: Apache-2.0 */
/* Jacobi iteration with five points in the plane, from A to B and back. */
#include <stdio.h>

#include "kernels.h"

static void kernel_jacobi2d(int tsteps, int n, DATA_TYPE POLYBENCH_2D(A, N, N, n, n),
                            DATA_TYPE POLYBENCH_2D(B, N, N, n, n)) {
  int t, i, j;
#pragma scop
  for (t = 0; t < _PB_TSTEPS; t++) {
    for (i = 1; i < _PB_N - 1; i++)
      for (j = 1; j < _PB_N - 1; j++)
        B[i][j] = SCALAR_VAL(0.2) * (A[i][j] + A[i][j - 1] + A[i][1 + j] + A[1 + i][j] + A[i - 1][j]);
    for (i = 1; i < _PB_N - 1; i++)
      for (j = 1; j < _PB_N - 1; j++)
        A[i][j] = SCALAR_VAL(0.2) * (B[i][j] + B[i][j - 1] + B[i][1 + j] + B[1 + i][j] + B[i - 1][j]);
  }
#pragma endscop
}

int main(void) {
  int tsteps = 20, n = 30;
  DATA_TYPE POLYBENCH_2D(A, N, N, n, n), POLYBENCH_2D(B, N, N, n, n);
  FILL(A);
  FILL(B);
  kernel_jacobi2d(tsteps, n, A, B);
  PRINT(A);
  return 0;
}
