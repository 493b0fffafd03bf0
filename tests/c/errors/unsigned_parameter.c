// SPDX-License-Identifier: Apache-2.0
void f(unsigned n, float x[n]) {
  for (int i = 0; i < (int)n; i++)
    x[i] = 1.0f;
}
