/* SPDX-License-Identifier: Apache-2.0 */
/* A tensor B, unfolded, times the Khatri-Rao product of C and D. */
#include <stdio.h>

#include "kernels.h"

static void kernel_mttkrp(int ni, int nj, int nk, int nl, DATA_TYPE POLYBENCH_2D(A, NI, NJ, ni, nj),
                          DATA_TYPE POLYBENCH_3D(B, NI, NK, NL, ni, nk, nl), DATA_TYPE POLYBENCH_2D(C, NK, NJ, nk, nj),
                          DATA_TYPE POLYBENCH_2D(D, NL, NJ, nl, nj)) {
  int i, j, k, l;
#pragma scop
  for (i = 0; i < _PB_NI; i++)
    for (j = 0; j < _PB_NJ; j++) {
      A[i][j] = SCALAR_VAL(0.0);
      for (k = 0; k < _PB_NK; k++)
        for (l = 0; l < _PB_NL; l++)
          A[i][j] += B[i][k][l] * C[k][j] * D[l][j];
    }
#pragma endscop
}

int main(void) {
  int ni = 8, nj = 10, nk = 12, nl = 14;
  DATA_TYPE POLYBENCH_2D(A, NI, NJ, ni, nj), POLYBENCH_3D(B, NI, NK, NL, ni, nk, nl), POLYBENCH_2D(C, NK, NJ, nk, nj),
           POLYBENCH_2D(D, NL, NJ, nl, nj);
  FILL(A);
  FILL(B);
  FILL(C);
  FILL(D);
  kernel_mttkrp(ni, nj, nk, nl, A, B, C, D);
  PRINT(A);
  return 0;
}
