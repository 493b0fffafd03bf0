/* SPDX-License-Identifier: Apache-2.0 */
static int least(int a, int b) { return a < b ? a : b; }
void f(int n, int m, int A[n]) {
  for (int i = 0; i < least(n, A[m]); i++) A[i] = 0;
}
