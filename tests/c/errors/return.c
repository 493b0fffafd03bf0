/* SPDX-License-Identifier: Apache-2.0 */
int f(int n, int A[n]) {
  int sum = 0;
  for (int i = 0; i < n; i++) sum += A[i];
  return sum;
}
