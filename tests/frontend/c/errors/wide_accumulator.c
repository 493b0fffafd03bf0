/* SPDX-License-Identifier: Apache-2.0 */
void f(int n, const int x[n], float y[1]) {
  long long sum = 0;
  for (int i = 0; i < n; i++) sum += (long long)x[i] * x[i];
  y[0] = sum;
}
