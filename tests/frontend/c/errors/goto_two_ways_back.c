/* SPDX-License-Identifier: Apache-2.0 */
void f(int n, int A[n]) {
  int i = 0;
again:
  if (A[i] < 0) goto again;
  if (++i < n) goto again;
}
