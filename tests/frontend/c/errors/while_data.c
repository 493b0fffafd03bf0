/* SPDX-License-Identifier: Apache-2.0 */
void f(int n, int x[n]) {
  int s = x[0];
  while (s > 0) {
    s = s / 2;
    x[1]++;
  }
}
