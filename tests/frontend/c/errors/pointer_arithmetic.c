/* SPDX-License-Identifier: Apache-2.0 */
void f(int n, int A[n], int B[n]) {
  int *p = n > 4 ? A : B;
  for (int i = 0; i < n; i++) *(p + i) = 0;
}
