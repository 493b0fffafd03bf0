/* SPDX-License-Identifier: Apache-2.0 */
void f(int n, int A[n]) {
  for (int i = 0, j = n - 1; i < j; i++, j--) A[i] = A[j];
}
