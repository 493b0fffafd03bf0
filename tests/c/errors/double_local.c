/* SPDX-License-Identifier: Apache-2.0 */
void f(int n, float A[n]) {
  double sum = 0;
  for (int i = 0; i < n; i++) sum += A[i];
}
