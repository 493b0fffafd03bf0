/* SPDX-License-Identifier: Apache-2.0 */
void f(int n, unsigned long seed, unsigned y[n]) {
  for (int i = 0; i < n; i++) y[i] = seed;
}
