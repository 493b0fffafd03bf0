/* SPDX-License-Identifier: Apache-2.0 */
void f(int n, int m, int A[n]) {
  for (int i = m; i != n; i++) A[i] = 0;
}
