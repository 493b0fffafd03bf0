/* SPDX-License-Identifier: Apache-2.0 */
struct cell { union { int i; float f; } u; };
void f(int n, const struct cell *S, float A[n]) {
  for (int i = 0; i < n; i++) A[i] = S->u.f;
}
