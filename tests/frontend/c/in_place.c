/* SPDX-License-Identifier: Apache-2.0 */
/* Destinations that are sources: test_overlaps.py runs these on one array. */
void scaled(int n, const int x[n], int y[n]) {
  for (int i = 0; i < n; i++) y[i] = 2 * x[i] + 1;
}

void ahead(int n, const int x[n], int y[n]) {
  for (int i = 0; i < n - 1; i++) y[i] = x[i] + x[i + 1];
}

void behind(int n, const int x[n], int y[n]) {
  for (int i = 1; i < n; i++) y[i] = x[i] + x[i - 1];
}

void twice(int n, const int x[n], int y[n]) {
  for (int i = 0; i < n; i++) y[i] = x[i] + 1;
  for (int i = 0; i < n; i++) y[i] += x[n - 1 - i];
}

void turned(int n, const int x[n], int y[n]) {
  for (int i = n - 1; i > 0; i--) y[i] = x[i - 1];
  y[0] = 0;
}
