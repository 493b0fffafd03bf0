/* SPDX-License-Identifier: Apache-2.0 */
/* The solution x of L x = b for a lower triangular L. */
#include <stdio.h>

#include "kernels.h"

static void kernel_trisolv(int n, DATA_TYPE POLYBENCH_2D(L, N, N, n, n), DATA_TYPE POLYBENCH_1D(x, N, n),
                           DATA_TYPE POLYBENCH_1D(b, N, n)) {
  int i, j;
#pragma scop
  for (i = 0; i < _PB_N; i++) {
    x[i] = b[i];
    for (j = 0; j < i; j++)
      x[i] -= L[i][j] * x[j];
    x[i] = x[i] / L[i][i];
  }
#pragma endscop
}

int main(void) {
  int n = 40;
  DATA_TYPE POLYBENCH_2D(L, N, N, n, n), POLYBENCH_1D(x, N, n), POLYBENCH_1D(b, N, n);
  FILL(L);
  FILL(x);
  FILL(b);
  kernel_trisolv(n, L, x, b);
  PRINT(x);
  return 0;
}
