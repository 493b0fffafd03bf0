/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>
void f(int n, int A[n], const float B[n]) {
  for (int i = 0; i < n; i++) memcpy(&A[i], &B[i], sizeof(int));
}
