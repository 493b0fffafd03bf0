/* SPDX-License-Identifier: Apache-2.0 */
void f(int n, float A[n]) {
  static float last = 0.0f;
  for (int i = 0; i < n; i++) last = A[i];
}
