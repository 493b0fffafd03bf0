/* SPDX-License-Identifier: Apache-2.0 */
void f(unsigned n, float A[n]) {
  for (unsigned i = 0; i < n - 1; i++) A[i] = 0.0f;
}
