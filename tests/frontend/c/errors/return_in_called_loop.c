/* SPDX-License-Identifier: Apache-2.0 */
static int copied(const float *x, float *y, int n) {
  for (int i = 0; i < n; i++) {
    if (x[i] < 0) return -1;
    y[i] = x[i];
  }
  return 0;
}

int kernel_copy(int n, const float x[n], float y[n]) {
  return copied(x, y, n);
}
