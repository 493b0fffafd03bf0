/* SPDX-License-Identifier: Apache-2.0 */
/* Jacobi iteration with three points, from A to B and back. */
#include <stdio.h>

#include "kernels.h"

static void kernel_jacobi1d(int tsteps, int n, DATA_TYPE POLYBENCH_1D(A, N, n), DATA_TYPE POLYBENCH_1D(B, N, n)) {
  int t, i;
#pragma scop
  for (t = 0; t < _PB_TSTEPS; t++) {
    for (i = 1; i < _PB_N - 1; i++)
      B[i] = SCALAR_VAL(0.33333) * (A[i - 1] + A[i] + A[i + 1]);
    for (i = 1; i < _PB_N - 1; i++)
      A[i] = SCALAR_VAL(0.33333) * (B[i - 1] + B[i] + B[i + 1]);
  }
#pragma endscop
}

int main(void) {
  int tsteps = 20, n = 30;
  DATA_TYPE POLYBENCH_1D(A, N, n), POLYBENCH_1D(B, N, n);
  FILL(A);
  FILL(B);
  kernel_jacobi1d(tsteps, n, A, B);
  PRINT(A);
  return 0;
}
