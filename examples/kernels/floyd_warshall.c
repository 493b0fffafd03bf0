/* SPDX-License-Identifier: Apache-2.0 */
/* Lengths of shortest paths between all pairs: the loop over k is one of steps. */
#include <stdio.h>

#include "kernels.h"

static void kernel_floyd_warshall(int n, int POLYBENCH_2D(path, N, N, n, n)) {
  int i, j, k;
#pragma scop
  for (k = 0; k < _PB_N; k++)
    for (i = 0; i < _PB_N; i++)
      for (j = 0; j < _PB_N; j++)
        path[i][j] = MIN(path[i][j], path[i][k] + path[k][j]);
#pragma endscop
}

int main(void) {
  int n = 60;
  int POLYBENCH_2D(path, N, N, n, n);
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      path[i][j] = (i * 7 + j * 11) % 97 + 1;
  kernel_floyd_warshall(n, path);
  PRINT(path);
  return 0;
}
