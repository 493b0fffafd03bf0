/* SPDX-License-Identifier: Apache-2.0 */
static int down(int x) { return x > 0 ? down(x - 1) : 0; }
void f(int n, int A[n]) {
  for (int i = 0; i < n; i++) A[i] = down(A[i]);
}
