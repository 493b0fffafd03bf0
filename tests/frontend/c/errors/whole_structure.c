/* SPDX-License-Identifier: Apache-2.0 */
struct filter { int taps; float *state; };
void reset(struct filter *S);
void f(int n, struct filter *S, float A[n]) {
  reset(S);
  for (int i = 0; i < n; i++) A[i] = S->state[i];
}
