/* SPDX-License-Identifier: Apache-2.0 */
void f(int n, int A[n]) {
  for (int i = 0; i < n; i++) A[i] = (int)(long)&A[0];
}
