/* SPDX-License-Identifier: Apache-2.0 */
#define HALF(x) ((x) / 2)
void f(int n, int A[n]) {
  for (int i = 0; i < n; i++) A[HALF(i * n)] = i;
}
