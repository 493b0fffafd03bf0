/* SPDX-License-Identifier: Apache-2.0 */
void f(int n, const int x[n], const int table[16], int y[n]) {
  for (int i = 0; i < n; i++) {
    long long sum = 0;
    sum += (long long)x[i] * x[i];
    int at = (int)(sum >> 60) & 15;
    y[i] = table[at];
  }
}
