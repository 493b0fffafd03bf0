/* SPDX-License-Identifier: Apache-2.0 */
void f(int n, float A[n]) {
  for (float x = 0.0f; x < 1.0f; x += 0.1f) A[0] += x;
}
