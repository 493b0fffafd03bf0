/* SPDX-License-Identifier: Apache-2.0 */
void transposed(int n, int steps, float A[n][n]) {
  for (int t = 0; t < steps; t++)
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++)
        A[i][j] += A[j][i];
}
