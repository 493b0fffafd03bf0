/* SPDX-License-Identifier: Apache-2.0 */
void f(int n, int A[n], const int step[1]) {
  for (int i = 0; i < n; i += step[0]) A[i] = 0;
}
