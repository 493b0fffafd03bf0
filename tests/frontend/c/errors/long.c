/* SPDX-License-Identifier: Apache-2.0 */
void f(int n, long double A[n]) {
  for (int i = 0; i < n; i++) A[i] = 0;
}
