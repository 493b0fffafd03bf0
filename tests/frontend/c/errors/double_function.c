/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
void f(int n, float A[n]) {
  for (int i = 0; i < n; i++) A[i] = exp(A[i]);
}
