/* SPDX-License-Identifier: Apache-2.0 */
void f(int n, const _Float16 x[n], _Float16 y[n]) {
  for (int i = 0; i < n; i++) y[i] = x[i] + x[i];
}
