/* SPDX-License-Identifier: Apache-2.0 */
/* The loops whose intervals are promised (docs/targets/belt.md), and some that ask for one pass each. */
int dot(int n, const int *restrict x, const int *restrict y) { int s = 0; for (int i = 0; i < n; i++) s += x[i] * y[i]; return s; }
void saxpy(int n, float a, const float *restrict x, float *restrict y) { for (int i = 0; i < n; i++) y[i] = a * x[i] + y[i]; }
void fir4(int n, const int h[restrict 4], const int *restrict x, int *restrict y) { for (int i = 0; i < n; i++) y[i] = h[0] * x[i] + h[1] * x[i + 1] + h[2] * x[i + 2] + h[3] * x[i + 3]; }
void fir8(int n, const short h[restrict 8], const short *restrict x, short *restrict y) {
  for (int i = 0; i < n; i++) {
    int s = 0;
    for (int k = 0; k < 8; k++) s += h[k] * x[i + k];
    y[i] = s >> 15;
  }
}
void iir(int n, int a, int b, const int *restrict x, int *restrict y) {
  int s = 0;
  for (int i = 0; i < n; i++) y[i] = s = (a * s >> 15) + b * x[i];
}
void product(int n, const int *restrict a, const int *restrict b, int *restrict c) {
  for (int i = 0; i < n; i++) {
    c[2 * i] = a[2 * i] * b[2 * i] - a[2 * i + 1] * b[2 * i + 1];
    c[2 * i + 1] = a[2 * i] * b[2 * i + 1] + a[2 * i + 1] * b[2 * i];
  }
}
int clipped(int n, int lo, int hi, const int *restrict x) {
  int s = 0;
  for (int i = 0; i < n; i++) s += x[i] < lo ? lo : x[i] > hi ? hi : x[i];
  return s;
}
void either(int n, const int *restrict a, const int *restrict b, int *restrict c) { for (int i = 0; i < n; i++) c[i] = a[i] > b[i] ? a[i] * b[i] : a[i] - b[i]; }
int length(const char *s) { int n = 0; while (s[n]) n++; return n; }
void copy(char *restrict d, const char *restrict s) { int i = 0; do d[i] = s[i]; while (s[i++]); }
int search(int n, int a, int b, const int *restrict x) {
  for (int i = 0; i < n; i++) {
    if (x[i] == a) return i;
    if (x[i] == b) return -i;
  }
  return n;
}
void shift1(int n, int c, int *y) { for (int i = 0; i < n; i++) y[i + 1] = y[i] + c; }
void shift7(int n, int c, int *y) { for (int i = 0; i < n; i++) y[i + 7] = y[i] + c; }
int two(int n, const int *restrict x, const int *restrict y) { int s = 0; for (int i = 0; i < n; i++) s = s + x[i] + y[i]; return s; }
void strided(int n, const int *restrict x, int *restrict y) { for (int i = 0; i < n; i++) y[i] = x[3 * i] + x[3 * i + 1] + x[6 * i]; }
int gathered(int n, const int *restrict k, const int *restrict x) { int s = 0; for (int i = 0; i < n; i++) s += x[k[i]]; return s; }
void guarded(int n, const int *restrict x, int *restrict y) { for (int i = 0; i < n; i++) if (x[i] > 0) { if (x[i] != 7) y[i] = x[i]; else y[i] += 3; } }
void unknown(int n, const int *x, int *y) { for (int i = 0; i < n; i++) y[i] = x[i] + 1; }
