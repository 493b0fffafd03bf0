/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HALF
#define HALF 0.5
#endif
void f(int n, float A[n]) {
  for (int i = 0; i < n; i++) A[i] = A[i] * HALF;
}
