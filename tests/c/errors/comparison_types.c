/* SPDX-License-Identifier: Apache-2.0 */
void f(int n, const signed char x[n], const short y[n], int z[n]) {
  for (int i = 0; i < n; i++) z[i] = x[i] < y[i];
}
