/* SPDX-License-Identifier: Apache-2.0 */
/* A := A + u1 v1^T + u2 v2^T, x := x + beta A^T y + z, w := w + alpha A x. */
#include <stdio.h>

#include "kernels.h"

static void kernel_gemver(int n, DATA_TYPE alpha, DATA_TYPE beta, DATA_TYPE POLYBENCH_2D(A, N, N, n, n),
                          DATA_TYPE POLYBENCH_1D(u1, N, n), DATA_TYPE POLYBENCH_1D(v1, N, n),
                          DATA_TYPE POLYBENCH_1D(u2, N, n), DATA_TYPE POLYBENCH_1D(v2, N, n),
                          DATA_TYPE POLYBENCH_1D(w, N, n), DATA_TYPE POLYBENCH_1D(x, N, n),
                          DATA_TYPE POLYBENCH_1D(y, N, n), DATA_TYPE POLYBENCH_1D(z, N, n)) {
  int i, j;
#pragma scop
  for (i = 0; i < _PB_N; i++)
    for (j = 0; j < _PB_N; j++)
      A[i][j] += u1[i] * v1[j] + u2[i] * v2[j];
  for (i = 0; i < _PB_N; i++)
    for (j = 0; j < _PB_N; j++)
      x[i] += beta * A[j][i] * y[j];
  for (i = 0; i < _PB_N; i++)
    x[i] += z[i];
  for (i = 0; i < _PB_N; i++)
    for (j = 0; j < _PB_N; j++)
      w[i] += alpha * A[i][j] * x[j];
#pragma endscop
}

int main(void) {
  int n = 40;
  DATA_TYPE POLYBENCH_2D(A, N, N, n, n), POLYBENCH_1D(u1, N, n), POLYBENCH_1D(v1, N, n), POLYBENCH_1D(u2, N, n),
           POLYBENCH_1D(v2, N, n), POLYBENCH_1D(w, N, n), POLYBENCH_1D(x, N, n), POLYBENCH_1D(y, N, n),
           POLYBENCH_1D(z, N, n);
  FILL(A);
  FILL(u1);
  FILL(v1);
  FILL(u2);
  FILL(v2);
  FILL(w);
  FILL(x);
  FILL(y);
  FILL(z);
  kernel_gemver(n, SCALAR_VAL(1.5), SCALAR_VAL(1.25), A, u1, v1, u2, v2, w, x, y, z);
  PRINT(w);
  return 0;
}
