/* SPDX-License-Identifier: Apache-2.0 */
void data_bounds(int n, int m, int first[n + 1], float values[m], float y[n]) {
  for (int i = 0; i < n; i++)
    for (int k = first[i]; k < first[i + 1]; k++)
      y[i] += values[k];
}
