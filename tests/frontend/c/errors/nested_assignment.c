/* SPDX-License-Identifier: Apache-2.0 */
void f(int n, int A[n], int B[n]) {
  for (int i = 0; i < n; i++) A[i] = B[i] > 0 ? (B[i] = 0) : 1;
}
