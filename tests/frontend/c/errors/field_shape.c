/* SPDX-License-Identifier: Apache-2.0 */
struct filter { unsigned taps; const float *coefficients; };
void f(const struct filter *S, float *y) {
  for (unsigned k = 0; k < S->taps; k++) *y += S->coefficients[k];
}
