/* SPDX-License-Identifier: Apache-2.0 */
void f(int n, int A[n], const int step[n]) {
  for (int i = 0; i < n; i++) {
    *A = i;
    A += step[i];
  }
}
