/* SPDX-License-Identifier: Apache-2.0 */
void f(int n, int A[n]) {
  int i, j;
  for (i = 0; i < n; i++)
    for (j = 0; j < 2; j++) A[i] = j;
  A[0] = j;
}
