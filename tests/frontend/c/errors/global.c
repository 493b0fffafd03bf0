/* SPDX-License-Identifier: Apache-2.0 */
extern const float table[10];
void f(int n, float A[n]) {
  for (int i = 0; i < n; i++) A[i] = table[i];
}
