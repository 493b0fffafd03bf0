/* SPDX-License-Identifier: Apache-2.0 */
int work(int x);
void f(int n, int A[n]) {
  for (int i = 0; i < n; i++) A[i] = work(i);
}
