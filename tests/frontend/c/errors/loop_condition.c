/* SPDX-License-Identifier: Apache-2.0 */
void f(int n, int A[n]) {
  for (int i = 0; i < n && A[0] > 3; i++) A[i] = 0;
}
