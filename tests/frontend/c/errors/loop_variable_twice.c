/* SPDX-License-Identifier: Apache-2.0 */
void f(int n, int A[n]) {
  int i;
  for (i = 0; i < n; i++)
    for (i = 0; i < n; i++) A[i] = 0;
}
