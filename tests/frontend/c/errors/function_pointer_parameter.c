/* SPDX-License-Identifier: Apache-2.0 */
void f(int n, float (*activate)(float), float A[n]) {
  for (int i = 0; i < n; i++) A[i] = activate(A[i]);
}
