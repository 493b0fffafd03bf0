/* SPDX-License-Identifier: Apache-2.0 */
/* Hard swish of each element, x * relu6(x + 3) / 6: the activation of networks for small machines. */

void hard_swish(int n, const float x[n], float y[n]) {
  for (int i = 0; i < n; i++) {
    float gate = x[i] + 3.0f;
    gate = gate < 0.0f ? 0.0f : gate;
    gate = gate > 6.0f ? 6.0f : gate;
    y[i] = x[i] * gate / 6.0f;
  }
}
