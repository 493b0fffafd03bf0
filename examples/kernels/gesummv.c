/* SPDX-License-Identifier: Apache-2.0 */
/* Y := alpha A x + beta B x. */
#include <stdio.h>

#include "kernels.h"

static void kernel_gesummv(int n, DATA_TYPE alpha, DATA_TYPE beta, DATA_TYPE POLYBENCH_2D(A, N, N, n, n),
                           DATA_TYPE POLYBENCH_2D(B, N, N, n, n), DATA_TYPE POLYBENCH_1D(tmp, N, n),
                           DATA_TYPE POLYBENCH_1D(x, N, n), DATA_TYPE POLYBENCH_1D(y, N, n)) {
  int i, j;
#pragma scop
  for (i = 0; i < _PB_N; i++) {
    tmp[i] = SCALAR_VAL(0.0);
    y[i] = SCALAR_VAL(0.0);
    for (j = 0; j < _PB_N; j++) {
      tmp[i] += A[i][j] * x[j];
      y[i] += B[i][j] * x[j];
    }
    y[i] = alpha * tmp[i] + beta * y[i];
  }
#pragma endscop
}

int main(void) {
  int n = 30;
  DATA_TYPE POLYBENCH_2D(A, N, N, n, n), POLYBENCH_2D(B, N, N, n, n), POLYBENCH_1D(tmp, N, n), POLYBENCH_1D(x, N, n),
           POLYBENCH_1D(y, N, n);
  FILL(A);
  FILL(B);
  FILL(tmp);
  FILL(x);
  FILL(y);
  kernel_gesummv(n, SCALAR_VAL(1.5), SCALAR_VAL(1.25), A, B, tmp, x, y);
  PRINT(y);
  return 0;
}
