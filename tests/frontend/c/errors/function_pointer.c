/* SPDX-License-Identifier: Apache-2.0 */
struct layer { int n; float (*activate)(float); };
void f(int n, const struct layer *S, float A[n]) {
  for (int i = 0; i < n; i++) A[i] = S->activate(A[i]);
}
