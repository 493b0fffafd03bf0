/* SPDX-License-Identifier: Apache-2.0 */
void f(int n, float A[n], float B[n]) {
  float *p = A;
  for (int i = 0; i < n; i++) p[i] = 0.0f;
  p = B;
}
