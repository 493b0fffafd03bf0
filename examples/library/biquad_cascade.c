/* SPDX-License-Identifier: Apache-2.0 */
/* Cascade of second-order sections in direct form II transposed: two state variables per section, which stay for the next
   block. A section has the coefficients b0, b1, b2, a1, a2, with the signs of a1 and a2 turned, as libraries store them. */

void biquad_cascade(int sections, int n, const float coefficients[sections][5], float state[sections][2], const float x[n],
                    float y[n]) {
  for (int i = 0; i < n; i++) {
    float value = x[i];
    for (int s = 0; s < sections; s++) {
      float result = coefficients[s][0] * value + state[s][0];
      state[s][0] = coefficients[s][1] * value + coefficients[s][3] * result + state[s][1];
      state[s][1] = coefficients[s][2] * value + coefficients[s][4] * result;
      value = result;
    }
    y[i] = value;
  }
}
