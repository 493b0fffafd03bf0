/* SPDX-License-Identifier: Apache-2.0 */
void f(int n, int A[n]) {
  for (int i = 0; i < n; i++)
    switch (A[i]) { case 0: if (i) { case 1: A[i] = 1; } }
}
