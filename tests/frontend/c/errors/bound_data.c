/* SPDX-License-Identifier: Apache-2.0 */
void f(int n, int count[n], int A[n][n]) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < count[i]; j++) A[i][j] = 0;
}
