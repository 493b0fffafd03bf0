/* SPDX-License-Identifier: Apache-2.0 */
void indirect(int n, float x[n], int index[n], float y[n]) {
  for (int i = 0; i < n; i++)
    y[i] = x[index[i]];
}
