/* SPDX-License-Identifier: Apache-2.0 */
void f(int n, int A[n]) {
  int i = 0;
  if (n > 3) goto inside;
again:
  A[i] = 0;
inside:
  i++;
  if (i < n) goto again;
}
