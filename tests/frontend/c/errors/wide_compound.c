/* SPDX-License-Identifier: Apache-2.0 */
void f(int n, const int x[n], int y[n]) {
  for (int i = 0; i < n; i++) y[i] /= 3ll * x[i];
}
