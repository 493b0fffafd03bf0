/* SPDX-License-Identifier: Apache-2.0 */
static int odd(int x);
static int even(int x) { int y = x - 1; return x == 0 ? 1 : odd(y); }
static int odd(int x) { int y = x - 1; return x == 0 ? 0 : even(y); }
void f(int n, int A[n]) {
  for (int i = 0; i < n; i++) A[i] = even(A[i]);
}
