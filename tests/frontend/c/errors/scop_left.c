// SPDX-License-Identifier: Apache-2.0
void f(int n, float x[n]) {
  if (n < 2)
    return;
#pragma scop
  for (int i = 0; i < n; i++)
    x[i] = 1.0f;
#pragma endscop
}
