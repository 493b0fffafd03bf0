/* SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>
void f(int n, int A[n]) {
  assert(n > 0);
  for (int i = 0; i < n; i++) {
    assert(A[i] != 0);
    A[i] = 100;
  }
}
