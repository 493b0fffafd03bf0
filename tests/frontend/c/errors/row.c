/* SPDX-License-Identifier: Apache-2.0 */
void f(int n, float A[n][n]) {
  for (int i = 0; i < n; i++) *A[i] = 0.0f;
}
