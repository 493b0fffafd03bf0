/* SPDX-License-Identifier: Apache-2.0 */
/* Local alignment with a linear penalty for gaps: all scores, and the best one. */
#include <stdio.h>

#include "kernels.h"

#define MATCH 3
#define MISMATCH (-3)
#define GAP 2

static void kernel_smith_waterman(int n, int m, signed char POLYBENCH_1D(a, N, n), signed char POLYBENCH_1D(b, M, m),
                                  int POLYBENCH_2D(H, N + 1, M + 1, n + 1, m + 1), int best[1]) {
  int i, j;
#pragma scop
  best[0] = 0;
  for (i = 0; i <= _PB_N; i++)
    H[i][0] = 0;
  for (j = 1; j <= _PB_M; j++)
    H[0][j] = 0;
  for (i = 1; i <= _PB_N; i++)
    for (j = 1; j <= _PB_M; j++) {
      int score = a[i - 1] == b[j - 1] ? MATCH : MISMATCH;
      H[i][j] = MAX(MAX(MAX(H[i - 1][j - 1] + score, H[i - 1][j] - GAP), H[i][j - 1] - GAP), 0);
      best[0] = MAX(best[0], H[i][j]);
    }
#pragma endscop
}

int main(void) {
  int n = 24, m = 20;
  signed char POLYBENCH_1D(a, N, n), POLYBENCH_1D(b, M, m);
  int POLYBENCH_2D(H, N + 1, M + 1, n + 1, m + 1), best[1];
  SPELL(a);
  SPELL(b);
  kernel_smith_waterman(n, m, a, b, H, best);
  PRINT(best);
  return 0;
}
