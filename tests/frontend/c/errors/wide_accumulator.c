/* SPDX-License-Identifier: Apache-2.0 */
void f(int n, int A[n], int B[1]) {
  long long sum = 0;
  for (int i = 0; i < n; i++) sum += (long long)A[i] * A[i];
  B[0] = (int)(sum >> 31);
}
