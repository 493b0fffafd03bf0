/* SPDX-License-Identifier: Apache-2.0 */
/* The lengths of the longest common subsequences of all prefixes of a and b. */
#include <stdio.h>

#include "kernels.h"

static void kernel_lcs(int n, int m, signed char POLYBENCH_1D(a, N, n), signed char POLYBENCH_1D(b, M, m),
                       int POLYBENCH_2D(L, N + 1, M + 1, n + 1, m + 1)) {
  int i, j;
#pragma scop
  for (i = 0; i <= _PB_N; i++)
    L[i][0] = 0;
  for (j = 1; j <= _PB_M; j++)
    L[0][j] = 0;
  for (i = 1; i <= _PB_N; i++)
    for (j = 1; j <= _PB_M; j++)
      if (a[i - 1] == b[j - 1])
        L[i][j] = L[i - 1][j - 1] + 1;
      else
        L[i][j] = MAX(L[i - 1][j], L[i][j - 1]);
#pragma endscop
}

int main(void) {
  int n = 24, m = 20;
  signed char POLYBENCH_1D(a, N, n), POLYBENCH_1D(b, M, m);
  int POLYBENCH_2D(L, N + 1, M + 1, n + 1, m + 1);
  SPELL(a);
  SPELL(b);
  kernel_lcs(n, m, a, b, L);
  PRINT(L);
  return 0;
}
