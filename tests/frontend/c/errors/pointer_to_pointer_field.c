/* SPDX-License-Identifier: Apache-2.0 */
struct rows { float **at; };
void f(int n, const struct rows *S, float A[n]) {
  for (int i = 0; i < n; i++) A[i] = S->at[i][0];
}
