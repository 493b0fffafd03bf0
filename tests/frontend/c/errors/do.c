/* SPDX-License-Identifier: Apache-2.0 */
void f(int n, int A[n]) {
  int i = 0;
  do A[i] = 0; while (A[++i] > 0);
}
