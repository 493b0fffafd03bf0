/* SPDX-License-Identifier: Apache-2.0 */
/* C := alpha A B^T + alpha B A^T + beta C, lower triangle. */
#include <stdio.h>

#include "kernels.h"

static void kernel_syr2k(int m, int n, DATA_TYPE alpha, DATA_TYPE beta, DATA_TYPE POLYBENCH_2D(C, N, N, n, n),
                         DATA_TYPE POLYBENCH_2D(A, N, M, n, m), DATA_TYPE POLYBENCH_2D(B, N, M, n, m)) {
  int i, j, k;
#pragma scop
  for (i = 0; i < _PB_N; i++) {
    for (j = 0; j <= i; j++)
      C[i][j] *= beta;
    for (k = 0; k < _PB_M; k++)
      for (j = 0; j <= i; j++)
        C[i][j] += A[j][k] * alpha * B[i][k] + B[j][k] * alpha * A[i][k];
  }
#pragma endscop
}

int main(void) {
  int m = 20, n = 30;
  DATA_TYPE POLYBENCH_2D(C, N, N, n, n), POLYBENCH_2D(A, N, M, n, m), POLYBENCH_2D(B, N, M, n, m);
  FILL(C);
  FILL(A);
  FILL(B);
  kernel_syr2k(m, n, SCALAR_VAL(1.5), SCALAR_VAL(1.25), C, A, B);
  PRINT(C);
  return 0;
}
