/* SPDX-License-Identifier: Apache-2.0 */
/* B := alpha A^T B with a lower triangular A whose diagonal is 1. */
#include <stdio.h>

#include "kernels.h"

static void kernel_trmm(int m, int n, DATA_TYPE alpha, DATA_TYPE POLYBENCH_2D(A, M, M, m, m),
                        DATA_TYPE POLYBENCH_2D(B, M, N, m, n)) {
  int i, j, k;
#pragma scop
  for (i = 0; i < _PB_M; i++)
    for (j = 0; j < _PB_N; j++) {
      for (k = i + 1; k < _PB_M; k++)
        B[i][j] += A[k][i] * B[k][j];
      B[i][j] = alpha * B[i][j];
    }
#pragma endscop
}

int main(void) {
  int m = 20, n = 30;
  DATA_TYPE POLYBENCH_2D(A, M, M, m, m), POLYBENCH_2D(B, M, N, m, n);
  FILL(A);
  FILL(B);
  kernel_trmm(m, n, SCALAR_VAL(1.5), A, B);
  PRINT(B);
  return 0;
}
