/* SPDX-License-Identifier: Apache-2.0 */
void f(int n, int step, int A[n]) {
  for (int i = 0; i < n; i += step) A[i] = 0;
}
