/* SPDX-License-Identifier: Apache-2.0 */
/* Loops in the style of tests of vectorizers: global arrays, and an outer loop that only repeats for timing. */
#include <time.h>
#include <stdio.h>
#ifndef N
#define N 16
#endif
#define M 6
#ifndef TIMES
#define TIMES 1
#endif
float a[N], b[N], c[N], d[N], e[N];
float aa[M][M], bb[M][M], cc[M][M];
float flat[M * M];
float sum_out, largest;
int count_of;
static float weight = 0.5f;
static const float table[4] = {0.25f, 0.5f, 0.75f, 1.0f};
struct parameters { float scale, offset; int number; };
struct parameters common;
int dummy(float *, float *, float *, float *, float *, float (*)[M], float (*)[M], float (*)[M], float);
static void start(void) { (void)clock(); }
static float twice(float x) { return 2.0f * x; }
static float row_sum(const float *row, int n) {
  float s = 0.0f;
  for (int j = 0; j < n; j++) s += row[j];
  return s;
}
static void clear(float *row, int n) { for (int j = 0; j < n; j++) row[j] = 0.0f; }
static int width(void) { return M; }
static float first_of(const float *p) { return p[0] + p[1]; }

/* shapes ignore:start,dummy,t */
float s000(void) {
  start();
  for (int t = 0; t < TIMES; t++) {
    for (int i = 0; i < N; i++) a[i] = b[i] + 1.0f;
    dummy(a, b, c, d, e, aa, bb, cc, 0.0f);
  }
  return 0.0f;
}
void s111(void) { for (int i = 1; i < N; i += 2) a[i] = a[i - 1] + b[i]; }
void s112(void) { for (int i = N - 2; i >= 0; i--) a[i + 1] = a[i] + b[i]; }
void s114(void) { for (int i = 0; i < M; i++) for (int j = 0; j < i; j++) aa[i][j] = aa[j][i] + bb[i][j]; }
void s119(void) { for (int i = 1; i < M; i++) for (int j = 1; j < M; j++) aa[i][j] = aa[i - 1][j - 1] + bb[i][j]; }
void s121(void) { for (int i = 0; i < N - 1; i++) { int j = i + 1; a[i] = a[j] + b[i]; } }
void s125(void) { int k = -1; for (int i = 0; i < M; i++) for (int j = 0; j < M; j++) { k++; flat[k] = aa[i][j] + bb[i][j] * cc[i][j]; } }
void s127(void) { int j = -1; for (int i = 0; i < N / 2; i++) { j++; a[j] = b[i] + c[i] * d[i]; j++; a[j] = b[i] + d[i] * e[i]; } }
void s131(int m) { __builtin_assume(m == 1); for (int i = 0; i < N - 1; i++) a[i] = a[i + m] + b[i]; }
void s151(void) { for (int i = 0; i < N; i++) a[i] = twice(b[i]) * weight; }
void s161(void) { for (int i = 0; i < N; i++) { if (b[i] < 0.0f) c[i] = a[i] + d[i] * d[i]; else a[i] = c[i] + d[i] * e[i]; } }
void s211(void) { for (int i = 1; i < N - 1; i++) { a[i] = b[i - 1] + c[i] * d[i]; b[i] = b[i + 1] - e[i] * d[i]; } }
void s231(void) { for (int i = 0; i < M; i++) for (int j = 1; j < M; j++) aa[j][i] = aa[j - 1][i] + bb[j][i]; }
void s251(void) { for (int i = 0; i < N; i++) { float s = b[i] + c[i] * d[i]; a[i] = s * s; } }
void s252(void) { float t = 0.0f; for (int i = 0; i < N; i++) { float s = b[i] * c[i]; a[i] = s + t; t = s; } }
void s311(void) { float sum = 0.0f; for (int i = 0; i < N; i++) sum += a[i]; sum_out = sum; }
float s312(void) { float p = 1.0f; for (int i = 0; i < N; i++) p *= a[i]; return p; }
void s314(void) { float x = a[0]; for (int i = 0; i < N; i++) if (a[i] > x) x = a[i]; largest = x; }
void s317(void) { sum_out = 1.0f; for (int i = 0; i < N / 2; i++) sum_out *= 0.99f; }
void s319(void) { float sum = 0.0f; for (int i = 0; i < N; i++) { a[i] = c[i] + d[i]; sum += a[i]; b[i] = c[i] + e[i]; sum += b[i]; } sum_out = sum; }
void s321(void) { for (int i = 1; i < N; i++) a[i] += a[i - 1] * b[i]; }
void s353(void) { for (int i = 0; i < N; i++) a[i] += table[2] * b[i] * table[i & 3]; }
void s4114(void) { for (int i = 0; i < N; i++) { a[i] = common.scale * b[i] + common.offset; } common.number = N; }
void sums(void) { for (int i = 0; i < M; i++) a[i] = row_sum(aa[i], M); }
void clears(void) { for (int i = 0; i < M; i++) clear(&aa[i][1], M - 1); }
void widths(void) { for (int i = 0; i < width(); i++) flat[i] = first_of(flat + i) + first_of(&a[i]); }
void counts(void) { count_of = 0; for (int i = 0; i < N; i++) if (a[i] > b[i]) count_of++; }
void steps(void) { static float scale[3] = {0.5f, 0.25f, 0.125f}; static int skip = 3; for (int i = 1; i < N - 1; i++) a[i] = scale[0] * b[i - 1] + scale[1] * b[i] + scale[2] * b[i + 1] + skip; }
/* shapes ignore:clock,printf,t */
void prints(void) {
  clock_t begin = clock();
  for (int t = 0; t < 1000; t++)
    for (int i = 0; i < N; i++) a[i] = b[i] + c[i];
  clock_t end = clock();
  printf("%f\n", (double)(end - begin) / CLOCKS_PER_SEC);
}
