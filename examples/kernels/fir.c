/* SPDX-License-Identifier: Apache-2.0 */
/* A filter with t coefficients u; samples before the first one are 0. */
#include <stdio.h>

#include "kernels.h"

static void kernel_fir(int n, int t, DATA_TYPE POLYBENCH_1D(u, T, t), DATA_TYPE POLYBENCH_1D(x, N, n),
                       DATA_TYPE POLYBENCH_1D(y, N, n)) {
  int i, j;
#pragma scop
  for (i = 0; i < _PB_N; i++) {
    y[i] = SCALAR_VAL(0.0);
    for (j = 0; j < MIN(t, i + 1); j++)
      y[i] += u[j] * x[i - j];
  }
#pragma endscop
}

int main(void) {
  int n = 64, t = 16;
  DATA_TYPE POLYBENCH_1D(u, T, t), POLYBENCH_1D(x, N, n), POLYBENCH_1D(y, N, n);
  FILL(u);
  FILL(x);
  FILL(y);
  kernel_fir(n, t, u, x, y);
  PRINT(y);
  return 0;
}
