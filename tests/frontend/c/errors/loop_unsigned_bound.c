/* SPDX-License-Identifier: Apache-2.0 */
void f(unsigned n, const int m[1], float A[n]) {
  unsigned last = (unsigned)m[0];
  for (unsigned i = 0; i < last - 1; i++) A[i] = 0.0f;
}
