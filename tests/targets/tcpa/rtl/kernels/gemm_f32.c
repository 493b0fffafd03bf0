// SPDX-License-Identifier: Apache-2.0
#include <math.h>

void gemm_f32(int n, int m, int k, float A[n][k], float B[k][m], float C[n][m]) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {
      float s = 0;
      for (int p = 0; p < k; p++) s = fmaf(A[i][p], B[p][j], s);
      C[i][j] = s;
    }
}
