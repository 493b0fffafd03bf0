/* SPDX-License-Identifier: Apache-2.0 */
/* Loads under conditions, whose addresses lie outside of every array where the condition is false. */
void nested(int n, const int *restrict k, const int *restrict x, int *restrict y) {
  for (int i = 0; i < n; i++)
    if (k[i] >= 0)
      if (x[k[i]] > 2) y[i] = x[k[i]];
}
int either(int n, const int *restrict k, const int *restrict x, int *restrict y) {
  int s = 0;
  for (int i = 0; i < n; i++) {
    if (k[i] >= 0 && x[k[i]] > 2) s += x[k[i]];
    else if (k[i] < -5 || x[k[i]] == 1) y[i] = s;
    else s -= 1;
  }
  return s;
}
int leaving(int n, const int *restrict k, const int *restrict x, int *restrict y) {
  int s = 0;
  for (int i = 0; i < n; i++) {
    if (k[i] >= 0) {
      if (x[k[i]] == 5) return i;
      y[i] = x[k[i]];
      if (x[k[i]] == 4) break;
    }
    s += i;
  }
  return s;
}
int divided(int n, const int *restrict k, const int *restrict x, int *restrict y) {
  int s = 0;
  for (int i = 0; i < n; i++) {
    if (x[i] != 0 && 100 / x[i] > 20) {
      s += 100 / x[i];
      y[i] = s;
      continue;
    }
    if (k[i] < 0) s += 3;
  }
  return s;
}
int chosen(int n, const int *restrict k, const int *restrict x, int *restrict y) {
  int s = 0;
  for (int i = 0; i < n; i++) {
    switch (x[i] & 3) {
    case 0: s += k[i] >= 0 ? x[k[i]] : 7; break;
    case 1: if (k[i] < 0) return s; y[i] = x[k[i]];
    case 2: s ^= i; break;
    default: if (s > 40) continue;
    }
    y[i] += 1;
  }
  return s;
}
