/* SPDX-License-Identifier: Apache-2.0 */
/* A[r][q][p] := the sum over s of A[r][q][s] C4[s][p]. */
#include <stdio.h>

#include "kernels.h"

static void kernel_doitgen(int nq, int nr, int np, DATA_TYPE POLYBENCH_3D(A, NR, NQ, NP, nr, nq, np),
                           DATA_TYPE POLYBENCH_2D(C4, NP, NP, np, np), DATA_TYPE POLYBENCH_1D(total, NP, np)) {
  int p, q, r, s;
#pragma scop
  for (r = 0; r < _PB_NR; r++)
    for (q = 0; q < _PB_NQ; q++) {
      for (p = 0; p < _PB_NP; p++) {
        total[p] = SCALAR_VAL(0.0);
        for (s = 0; s < _PB_NP; s++)
          total[p] += A[r][q][s] * C4[s][p];
      }
      for (p = 0; p < _PB_NP; p++)
        A[r][q][p] = total[p];
    }
#pragma endscop
}

int main(void) {
  int nq = 8, nr = 10, np = 12;
  DATA_TYPE POLYBENCH_3D(A, NR, NQ, NP, nr, nq, np), POLYBENCH_2D(C4, NP, NP, np, np), POLYBENCH_1D(total, NP, np);
  FILL(A);
  FILL(C4);
  FILL(total);
  kernel_doitgen(nq, nr, np, A, C4, total);
  PRINT(A);
  return 0;
}
