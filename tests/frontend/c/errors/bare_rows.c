/* SPDX-License-Identifier: Apache-2.0 */
void f(int n, int m, float (*B)[m]) {
  for (int i = 0; i < n; i++) B[i][0] = 0.0f;
}
