// SPDX-License-Identifier: Apache-2.0
void f(int n, unsigned scale, float x[n]) {
  for (int i = 0; i < n; i++)
    x[i] = scale > 2 ? 1.0f : 0.0f;
}
