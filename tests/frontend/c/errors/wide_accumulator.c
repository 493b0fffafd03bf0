/* SPDX-License-Identifier: Apache-2.0 */
void f(int n, const int x[n], int y[1]) {
  for (int i = 0; i < n; i++) y[0] += (long long)x[i] * x[i];
}
