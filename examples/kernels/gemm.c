/* SPDX-License-Identifier: Apache-2.0 */
/* C := alpha A B + beta C, by rows. */
#include <stdio.h>

#include "kernels.h"

static void kernel_gemm(int ni, int nj, int nk, DATA_TYPE alpha, DATA_TYPE beta,
                        DATA_TYPE POLYBENCH_2D(C, NI, NJ, ni, nj), DATA_TYPE POLYBENCH_2D(A, NI, NK, ni, nk),
                        DATA_TYPE POLYBENCH_2D(B, NK, NJ, nk, nj)) {
  int i, j, k;
#pragma scop
  for (i = 0; i < _PB_NI; i++) {
    for (j = 0; j < _PB_NJ; j++)
      C[i][j] *= beta;
    for (k = 0; k < _PB_NK; k++)
      for (j = 0; j < _PB_NJ; j++)
        C[i][j] += alpha * A[i][k] * B[k][j];
  }
#pragma endscop
}

int main(void) {
  int ni = 20, nj = 25, nk = 30;
  DATA_TYPE POLYBENCH_2D(C, NI, NJ, ni, nj), POLYBENCH_2D(A, NI, NK, ni, nk), POLYBENCH_2D(B, NK, NJ, nk, nj);
  FILL(C);
  FILL(A);
  FILL(B);
  kernel_gemm(ni, nj, nk, SCALAR_VAL(1.5), SCALAR_VAL(1.25), C, A, B);
  PRINT(C);
  return 0;
}
