/* SPDX-License-Identifier: Apache-2.0 */
/* Y := A x. */
#include <stdio.h>

#include "kernels.h"

static void kernel_matvec(int n, int m, DATA_TYPE POLYBENCH_2D(A, N, M, n, m), DATA_TYPE POLYBENCH_1D(x, M, m),
                          DATA_TYPE POLYBENCH_1D(y, N, n)) {
  int i, j;
#pragma scop
  for (i = 0; i < _PB_N; i++) {
    y[i] = SCALAR_VAL(0.0);
    for (j = 0; j < _PB_M; j++)
      y[i] += A[i][j] * x[j];
  }
#pragma endscop
}

int main(void) {
  int n = 40, m = 30;
  DATA_TYPE POLYBENCH_2D(A, N, M, n, m), POLYBENCH_1D(x, M, m), POLYBENCH_1D(y, N, n);
  FILL(A);
  FILL(x);
  FILL(y);
  kernel_matvec(n, m, A, x, y);
  PRINT(y);
  return 0;
}
