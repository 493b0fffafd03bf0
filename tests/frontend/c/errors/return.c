/* SPDX-License-Identifier: Apache-2.0 */
int f(int n, int A[n]) {
  for (int i = 0; i < n; i++)
    if (A[i] < 0) return i;
  return n;
}
