/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
void f(int n, const float x[n], float y[n]) {
  for (int i = 0; i < n; i++) y[i] = erff(x[i]);
}
