/* SPDX-License-Identifier: Apache-2.0 */
#define DATA_TYPE int
void f(int n, DATA_TYPE A[n]) {
  for (int i = 0; i < n; i++) A[i] = SCALAR_VAL(0.0);
}
