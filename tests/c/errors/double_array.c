/* SPDX-License-Identifier: Apache-2.0 */
typedef double DATA_TYPE;
static void kernel_copy(int n, DATA_TYPE A[n][n]) {
  for (int i = 0; i < n; i++) A[i][0] = A[i][1];
}
