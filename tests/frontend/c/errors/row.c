/* SPDX-License-Identifier: Apache-2.0 */
void f(int n, float A[n][n], float B[n]) {
  for (int i = 0; i < n; i++) {
    float *row = A[i];
    if (B[i] > 0.0f) row = B;
    row[0] = 0.0f;
  }
}
