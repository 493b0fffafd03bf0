/* SPDX-License-Identifier: Apache-2.0 */
/* Y := A^T (A x). */
#include <stdio.h>

#include "kernels.h"

static void kernel_atax(int m, int n, DATA_TYPE POLYBENCH_2D(A, M, N, m, n), DATA_TYPE POLYBENCH_1D(x, N, n),
                        DATA_TYPE POLYBENCH_1D(y, N, n), DATA_TYPE POLYBENCH_1D(tmp, M, m)) {
  int i, j;
#pragma scop
  for (i = 0; i < _PB_N; i++)
    y[i] = SCALAR_VAL(0.0);
  for (i = 0; i < _PB_M; i++) {
    tmp[i] = SCALAR_VAL(0.0);
    for (j = 0; j < _PB_N; j++)
      tmp[i] += A[i][j] * x[j];
    for (j = 0; j < _PB_N; j++)
      y[j] += A[i][j] * tmp[i];
  }
#pragma endscop
}

int main(void) {
  int m = 38, n = 42;
  DATA_TYPE POLYBENCH_2D(A, M, N, m, n), POLYBENCH_1D(x, N, n), POLYBENCH_1D(y, N, n), POLYBENCH_1D(tmp, M, m);
  FILL(A);
  FILL(x);
  FILL(y);
  FILL(tmp);
  kernel_atax(m, n, A, x, y, tmp);
  PRINT(y);
  return 0;
}
