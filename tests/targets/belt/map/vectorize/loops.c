/* SPDX-License-Identifier: Apache-2.0 */
/* Loops for vectorization. Arrays have n elements, those of `shift` ones 12 more; characters end with 0. */
typedef unsigned char u8; typedef long long i64;
int dot(int n, const int *restrict x, const int *restrict y) { int s = 3; for (int i = 0; i < n; i++) s += x[i]*y[i]; return s; }
int most(int n, const int *restrict x) { int s = -9999; for (int i = 0; i < n; i++) s = x[i] > s ? x[i] : s; return s; }
int below(int n, int c, const int *restrict x) { int s = 0; for (int i = 0; i < n; i++) s -= x[i] < c ? x[i] : 1; return s; }
void ramp(int n, int *restrict x) { for (int i = 0; i < n; i++) x[i] = i * 3 + 1; }
void copy2(int n, int *restrict x, const int *restrict y) { for (int i = 0; i < n; i++) { x[i] = y[i]; if (y[i] > 3) x[i] = i; } }
int length(const char *s) { int n = 0; while (s[n]) n++; return n; }
void scopy(char *restrict d, const char *restrict s) { while ((*d++ = *s++)) ; }
int find(int n, int a, int b, const int *restrict x) { for (int i = 0; i < n; i++) { if (x[i] == a) return i; if (x[i] == b) return -i - 100; } return n + 1000; }
int upto(int n, int a, const int *restrict x, int *restrict y) { int s = 0; for (int i = 0; i < n; i++) { y[i] = x[i] + 1; if (x[i] == a) break; s += x[i]; y[i] += 5; } return s; }
int upto2(int n, int a, const int *restrict x, int *restrict y, int*restrict z) { int s = 0; for (int i = 0; i < n; i++) { y[i] = x[i] + 1; if (x[i] == a) { s += 1000; break; } s += x[i]; z[i] = 5; if (s == 0 || x[i] == a + 1) return 7; y[i] = s; } return s; }
int mask2(int n, int a, const int *restrict x, int *restrict y, int*restrict z) { int s = 0; for (int i = 0; i < n; i++) { y[i] = x[i] + 1; if (x[i] == a) { s += 1000; break; } s += x[i]; z[i] = 5; if (x[i] == a + 1) return 7; y[i] = 9; } return s; }
void shift4(int n, int *y) { for (int i = 0; i < n; i++) y[i] = y[i + 4] + 1; }
void shift9(int n, int *y) { for (int i = 0; i < n; i++) y[i + 9] = y[i] + 1; }
void shift3(int n, int *y) { for (int i = 0; i < n; i++) y[i + 3] = y[i] + 1; }
int gather(int n, const int *restrict x, const int *restrict k) { int s = 0; for (int i = 0; i < n; i++) s += x[k[i] & 15]; return s; }
void narrow(int n, const short *restrict x, short *restrict y) { for (int i = 0; i < n; i++) y[i] = (x[i] * 5 + 3) >> 2; }
int bytes(int n, const u8 *restrict x) { int s = 0; for (int i = 0; i < n; i++) s += x[i]; return s; }
void even(int n, int *restrict x) { for (int i = 0; i < n; i += 2) x[i] = 1; }
float fsum(int n, const float *restrict x) { float s = 0; for (int i = 0; i < n; i++) s += x[i]; return s; }
i64 wide(int n, const i64 *restrict x) { i64 s = 0; for (int i = 0; i < n; i++) s ^= x[i] + 3; return s; }
int last(int n, const int *restrict x) { int v = 0, k = -1; for (int i = 0; i < n; i++) { v = x[i]; if (v == 4) { k = i; break; } } return v * 100 + k; }
void matrix(int n, int m, const int *restrict a, int *restrict b) { for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) b[i * m + j] = a[i * m + j] + i; }
int prefix(int n, int *restrict a) { int s = 0; for (int i = 0; i < n; i++) { s += a[i]; a[i] = s; } return s; }
