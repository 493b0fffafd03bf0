/* SPDX-License-Identifier: Apache-2.0 */
void f(int n, int A[n]) {
  int end = 3;
  end = end + A[0];
  for (int i = 0; i < end; i++) A[i] = 0;
}
