/* SPDX-License-Identifier: Apache-2.0 */
void f(int n, int A[n]) {
  n = n - 1;
  for (int i = 0; i < n; i++) A[i] = 0;
}
