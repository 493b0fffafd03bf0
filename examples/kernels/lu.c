/* SPDX-License-Identifier: Apache-2.0 */
/* A = L U without pivoting, in place. */
#include <stdio.h>

#include "kernels.h"

static void kernel_lu(int n, DATA_TYPE POLYBENCH_2D(A, N, N, n, n)) {
  int i, j, k;
#pragma scop
  for (i = 0; i < _PB_N; i++) {
    for (j = 0; j < i; j++) {
      for (k = 0; k < j; k++)
        A[i][j] -= A[i][k] * A[k][j];
      A[i][j] /= A[j][j];
    }
    for (j = i; j < _PB_N; j++)
      for (k = 0; k < i; k++)
        A[i][j] -= A[i][k] * A[k][j];
  }
#pragma endscop
}

int main(void) {
  int n = 40;
  DATA_TYPE POLYBENCH_2D(A, N, N, n, n);
  FILL(A);
  kernel_lu(n, A);
  PRINT(A);
  return 0;
}
