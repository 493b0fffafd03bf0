// SPDX-License-Identifier: Apache-2.0
void tri(int n, int L[n][n], int b[n], int x[n]) {
  for (int i = 0; i < n; i++) {
    int s = b[i];
    for (int j = 0; j < i; j++) s -= L[i][j] * x[j];
    x[i] = s / L[i][i];
  }
}
