/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
void f(int n, int A[n]) {
  for (int i = 0; i < n; i++) putchar(A[i]);
}
