/* SPDX-License-Identifier: Apache-2.0 */
/* D := alpha A B C + beta D, by way of tmp := alpha A B. */
#include <stdio.h>

#include "kernels.h"

static void kernel_mm2(int ni, int nj, int nk, int nl, DATA_TYPE alpha, DATA_TYPE beta,
                       DATA_TYPE POLYBENCH_2D(tmp, NI, NJ, ni, nj), DATA_TYPE POLYBENCH_2D(A, NI, NK, ni, nk),
                       DATA_TYPE POLYBENCH_2D(B, NK, NJ, nk, nj), DATA_TYPE POLYBENCH_2D(C, NJ, NL, nj, nl),
                       DATA_TYPE POLYBENCH_2D(D, NI, NL, ni, nl)) {
  int i, j, k;
#pragma scop
  for (i = 0; i < _PB_NI; i++)
    for (j = 0; j < _PB_NJ; j++) {
      tmp[i][j] = SCALAR_VAL(0.0);
      for (k = 0; k < _PB_NK; ++k)
        tmp[i][j] += alpha * A[i][k] * B[k][j];
    }
  for (i = 0; i < _PB_NI; i++)
    for (j = 0; j < _PB_NL; j++) {
      D[i][j] *= beta;
      for (k = 0; k < _PB_NJ; ++k)
        D[i][j] += tmp[i][k] * C[k][j];
    }
#pragma endscop
}

int main(void) {
  int ni = 16, nj = 18, nk = 22, nl = 24;
  DATA_TYPE POLYBENCH_2D(tmp, NI, NJ, ni, nj), POLYBENCH_2D(A, NI, NK, ni, nk), POLYBENCH_2D(B, NK, NJ, nk, nj),
           POLYBENCH_2D(C, NJ, NL, nj, nl), POLYBENCH_2D(D, NI, NL, ni, nl);
  FILL(tmp);
  FILL(A);
  FILL(B);
  FILL(C);
  FILL(D);
  kernel_mm2(ni, nj, nk, nl, SCALAR_VAL(1.5), SCALAR_VAL(1.25), tmp, A, B, C, D);
  PRINT(D);
  return 0;
}
