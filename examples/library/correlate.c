/* SPDX-License-Identifier: Apache-2.0 */
/* Full correlation of two signals: all n + m - 1 lags, each the sum over the samples at which both signals are. */

void correlate(int n, int m, const float a[n], const float b[m], float c[n + m - 1]) {
  for (int lag = 0; lag < n + m - 1; lag++) {
    int first = lag < m - 1 ? 0 : lag - (m - 1);
    int last = lag < n - 1 ? lag : n - 1;
    float sum = 0.0f;
    for (int i = first; i <= last; i++)
      sum += a[i] * b[i - lag + m - 1];
    c[lag] = sum;
  }
}
