/* SPDX-License-Identifier: Apache-2.0 */
void f(int n, const int A[n], const int B[n], int C[n]) {
  const int *p = A;
  for (int i = 0; i < n; i++) {
    if (C[i] > 0) p = B;
    C[i] = p[i];
  }
}
