/* SPDX-License-Identifier: Apache-2.0 */
/* C := alpha A B + beta C with a symmetric A of which the lower triangle is given. */
#include <stdio.h>

#include "kernels.h"

static void kernel_symm(int m, int n, DATA_TYPE alpha, DATA_TYPE beta, DATA_TYPE POLYBENCH_2D(C, M, N, m, n),
                        DATA_TYPE POLYBENCH_2D(A, M, M, m, m), DATA_TYPE POLYBENCH_2D(B, M, N, m, n)) {
  int i, j, k;
  DATA_TYPE above;
#pragma scop
  for (i = 0; i < _PB_M; i++)
    for (j = 0; j < _PB_N; j++) {
      above = 0;
      for (k = 0; k < i; k++) {
        C[k][j] += alpha * B[i][j] * A[i][k];
        above += B[k][j] * A[i][k];
      }
      C[i][j] = beta * C[i][j] + alpha * B[i][j] * A[i][i] + alpha * above;
    }
#pragma endscop
}

int main(void) {
  int m = 20, n = 30;
  DATA_TYPE POLYBENCH_2D(C, M, N, m, n), POLYBENCH_2D(A, M, M, m, m), POLYBENCH_2D(B, M, N, m, n);
  FILL(C);
  FILL(A);
  FILL(B);
  kernel_symm(m, n, SCALAR_VAL(1.5), SCALAR_VAL(1.25), C, A, B);
  PRINT(C);
  return 0;
}
