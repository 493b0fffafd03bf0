/* SPDX-License-Identifier: Apache-2.0 */
/* A = L L^T for a positive definite A, L in place of its lower triangle. */
#include <math.h>
#include <stdio.h>

#include "kernels.h"

static void kernel_cholesky(int n, DATA_TYPE POLYBENCH_2D(A, N, N, n, n)) {
  int i, j, k;
#pragma scop
  for (i = 0; i < _PB_N; i++) {
    for (j = 0; j < i; j++) {
      for (k = 0; k < j; k++)
        A[i][j] -= A[i][k] * A[j][k];
      A[i][j] /= A[j][j];
    }
    for (k = 0; k < i; k++)
      A[i][i] -= A[i][k] * A[i][k];
    A[i][i] = SQRT_FUN(A[i][i]);
  }
#pragma endscop
}

int main(void) {
  int n = 40;
  DATA_TYPE POLYBENCH_2D(A, N, N, n, n);
  FILL(A);
  kernel_cholesky(n, A);
  PRINT(A);
  return 0;
}
