/* SPDX-License-Identifier: Apache-2.0 */
void f(int n, int m, float *A, const float *x, float *y) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) y[i] += A[i * m + j] * x[j];
}
