/* SPDX-License-Identifier: Apache-2.0 */
/* Durbin's recursion: the solution y of the Yule-Walker equations of a Toeplitz matrix with the entries r; z is room. */
#include <stdio.h>

#include "kernels.h"

static void kernel_durbin(int n, DATA_TYPE POLYBENCH_1D(r, N, n), DATA_TYPE POLYBENCH_1D(y, N, n),
                          DATA_TYPE POLYBENCH_1D(z, N, n)) {
  DATA_TYPE alpha, beta, total;
  int i, k;
  ASSUME(n >= 1);
#pragma scop
  y[0] = -r[0];
  beta = SCALAR_VAL(1.0);
  alpha = -r[0];
  for (k = 1; k < _PB_N; k++) {
    beta = (SCALAR_VAL(1.0) - alpha * alpha) * beta;
    total = SCALAR_VAL(0.0);
    for (i = 0; i < k; i++)
      total += r[k - i - 1] * y[i];
    alpha = -(r[k] + total) / beta;
    for (i = 0; i < k; i++)
      z[i] = y[i] + alpha * y[k - i - 1];
    for (i = 0; i < k; i++)
      y[i] = z[i];
    y[k] = alpha;
  }
#pragma endscop
}

int main(void) {
  int n = 40;
  DATA_TYPE POLYBENCH_1D(r, N, n), POLYBENCH_1D(y, N, n), POLYBENCH_1D(z, N, n);
  FILL(r);
  FILL(y);
  FILL(z);
  kernel_durbin(n, r, y, z);
  PRINT(y);
  return 0;
}
