/* SPDX-License-Identifier: Apache-2.0 */
void f(int n, int m, float *A, float (*B)[m]) {
  for (int i = 0; i < n; i++) A[i] = B[i][0];
}
