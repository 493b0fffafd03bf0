/* SPDX-License-Identifier: Apache-2.0 */
#define THIRD(x) (0.33333 * (x))
void f(int n, float A[n]) {
  for (int i = 1; i < n; i++) A[i] = THIRD(A[i - 1] + A[i]);
}
