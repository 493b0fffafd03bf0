/* SPDX-License-Identifier: Apache-2.0 */
void f(int n, const signed char a[n], int c[n]) {
  for (int i = 0; i < n; i++) c[i] = a[i] > 200;
}
