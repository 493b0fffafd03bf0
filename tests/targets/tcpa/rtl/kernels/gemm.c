// SPDX-License-Identifier: Apache-2.0
void gemm(int n, int m, int k, int A[n][k], int B[k][m], int C[n][m]) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {
      int s = 0;
      for (int p = 0; p < k; p++) s += A[i][p] * B[p][j];
      C[i][j] = s;
    }
}
