/* SPDX-License-Identifier: Apache-2.0 */
/* Gram-Schmidt orthogonalisation: A = Q R, column by column; A is used up. */
#include <math.h>
#include <stdio.h>

#include "kernels.h"

static void kernel_gramschmidt(int m, int n, DATA_TYPE POLYBENCH_2D(A, M, N, m, n),
                               DATA_TYPE POLYBENCH_2D(R, N, N, n, n), DATA_TYPE POLYBENCH_2D(Q, M, N, m, n)) {
  int i, j, k;
  DATA_TYPE norm;
#pragma scop
  for (k = 0; k < _PB_N; k++) {
    norm = SCALAR_VAL(0.0);
    for (i = 0; i < _PB_M; i++)
      norm += A[i][k] * A[i][k];
    R[k][k] = SQRT_FUN(norm);
    for (i = 0; i < _PB_M; i++)
      Q[i][k] = A[i][k] / R[k][k];
    for (j = k + 1; j < _PB_N; j++) {
      R[k][j] = SCALAR_VAL(0.0);
      for (i = 0; i < _PB_M; i++)
        R[k][j] += Q[i][k] * A[i][j];
      for (i = 0; i < _PB_M; i++)
        A[i][j] = A[i][j] - Q[i][k] * R[k][j];
    }
  }
#pragma endscop
}

int main(void) {
  int m = 20, n = 30;
  DATA_TYPE POLYBENCH_2D(A, M, N, m, n), POLYBENCH_2D(R, N, N, n, n), POLYBENCH_2D(Q, M, N, m, n);
  FILL(A);
  FILL(R);
  FILL(Q);
  kernel_gramschmidt(m, n, A, R, Q);
  PRINT(R);
  PRINT(Q);
  return 0;
}
