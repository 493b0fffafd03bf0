/* SPDX-License-Identifier: Apache-2.0
   A number of two vectors. */
float dot(int n, float a, const float x[n], const float y[n]) {
  float s = 0;
  for (int i = 0; i < n; i++) s += x[i] * y[i];
  return a * s;
}
