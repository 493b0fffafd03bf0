/* SPDX-License-Identifier: Apache-2.0 */
/* Q := A p and s := A^T r. */
#include <stdio.h>

#include "kernels.h"

static void kernel_bicg(int m, int n, DATA_TYPE POLYBENCH_2D(A, N, M, n, m), DATA_TYPE POLYBENCH_1D(s, M, m),
                        DATA_TYPE POLYBENCH_1D(q, N, n), DATA_TYPE POLYBENCH_1D(p, M, m),
                        DATA_TYPE POLYBENCH_1D(r, N, n)) {
  int i, j;
#pragma scop
  for (i = 0; i < _PB_M; i++)
    s[i] = SCALAR_VAL(0.0);
  for (i = 0; i < _PB_N; i++) {
    q[i] = SCALAR_VAL(0.0);
    for (j = 0; j < _PB_M; j++) {
      s[j] += r[i] * A[i][j];
      q[i] += A[i][j] * p[j];
    }
  }
#pragma endscop
}

int main(void) {
  int m = 38, n = 42;
  DATA_TYPE POLYBENCH_2D(A, N, M, n, m), POLYBENCH_1D(s, M, m), POLYBENCH_1D(q, N, n), POLYBENCH_1D(p, M, m),
           POLYBENCH_1D(r, N, n);
  FILL(A);
  FILL(s);
  FILL(q);
  FILL(p);
  FILL(r);
  kernel_bicg(m, n, A, s, q, p, r);
  PRINT(q);
  return 0;
}
