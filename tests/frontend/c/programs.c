/* SPDX-License-Identifier: Apache-2.0 */
/* What the C front end reads, a function for each: the tests run every one natively and as a nest. */
#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define AT(array, i, j) array[i][j]
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#define SQUARE(x) ((x) * (x))

typedef float real;
typedef real number;

enum { SIDE = 2, SIDES, FIRST = -1 };
static const int SHIFT = SIDES - 2, TWICE = 2 * SIDES;
static const float THIRD = 1.0f / 3.0f, NEAR_HALF = -0.5f;

static inline float blend(float a, float b, float t) { return a + t * (b - a); }
static inline int clamp(int x, int low, int high) { return x < low ? low : x > high ? high : x; }
static int least(int a, int b);
static int least(int a, int b) { return a < b ? a : b; }

void decreasing(int n, const float A[n], float B[restrict n]) {
  for (int i = n - 1; i >= 0; i--)
    B[i] = A[i] + (i < n - 1 ? B[i + 1] : 0.0f);
}

void forms(int n, int A[n]) {
  int i;
  for (i = 0; i <= n - 1; i += 1) A[i] = 1;
  for (i = 0; n > i; ++i) A[i] += i;
  for (i = 0; i != n; i = i + 1) A[i] -= n;
  for (i = n; i > 0; i -= 1) A[i - 1] *= 3;
  for (i = n - 1; i != -1; --i) A[i]++;
  for (i = 0; i < n && i < 3; i++) --A[i];
  for (i = 0; i < n; i++);
}

void bounds(int n, int m, int A[n][m]) {
  for (int t = 0; t < n + m - 1; t++)
    for (int i = MAX(0, t - m + 1); i < MIN(n, t + 1); i++)
      A[i][t - i] = t;
  for (int i = least(n, m) - 1; i >= 0; i--)
    A[i][i] = -A[i][i];
}

void temporaries(int n, number A[n][n], real sum[1]) {
  real total = 0;
  int last = n - 1, j;
  for (int i = 0; i < n; i++) {
    const int k = last - i;
    real row = 0.f, other;
    for (j = 0; j < n; j++)
      row += SQUARE(AT(A, i, j)) * AT(A, k, j);
    other = row;
    total += other / (float)(i + 1);
  }
  sum[0] = total;
}

void conditions(int n, int A[n][n]) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      if (i == j || (i > 2 && !(j >= i))) A[i][j] = 7;
      else if (i + j < n) A[i][j] += i * 2 - j;
      else { A[i][j] = -1; if (j) A[i][j]--; }
    }
}

void branches(int n, const int x[n], float y[n], int z[n]) {
  for (int i = 0; i < n; i++) {
    float t;
    int c;
    if (x[i] > 0 && y[i] < 0.5f) { t = y[i] * 2.0f; c = 1; y[i] = t + 1.0f; }
    else { t = -y[i]; c = 2; z[i] = 4; }
    if (!x[i]) z[i] = c;
    if (i > 0 && x[i] < x[i - 1]) z[i] += z[i - 1];
    else z[i]--;
    if (x[i]) { float u = t * t; if (u > y[i]) y[i] = u; }
    y[i] += t;
  }
}

void guards(int n, const int a[n], const int b[n], int q[n], int r[n]) {
  for (int i = 0; i < n; i++) {
    q[i] = b[i] != 0 && b[i] != -1 ? a[i] / b[i] : 0;
    if (b[i] > 1) r[i] = a[i] % b[i];
    if (b[i] == 0 || a[i] / b[i] > 1) q[i] += 10;
  }
}

void loops_in_branches(int n, const float x[n], float A[n][n]) {
  for (int i = 0; i < n; i++)
    if (x[i] > 0.0f) {
      float s = 0.0f;
      for (int j = 0; j < n; j++) s += A[i][j];
      for (int j = 0; j < n; j++) A[i][j] /= s;
    } else
      A[i][i] = 1.0f;
}

void narrow(int n, const signed char a[n], const signed char b[n], signed char c[n], short s[n]) {
  for (int i = 0; i < n; i++) {
    c[i] = a[i] + b[i] * 3 - 1;
    c[i] ^= ~a[i] & 15;
    c[i] += i;
    c[i] = (signed char)(c[i] << 2) >> 1;
    c[i] = (a[i] > b[i] ? a[i] : b[i]) + (c[i] == 5) - (-c[i]);
    s[i] = -s[i] * 2;
    s[i]++;
    s[i] = MAX(s[i], -100);
    s[i] = s[i] / 7 + s[i] % 5;
  }
}

void integers(int n, const int a[n], const int b[n], int c[n]) {
  for (int i = 0; i < n; i++) {
    c[i] = (a[i] & 255) | (b[i] << 3) ^ ~a[i];
    c[i] += a[i] >> 2;
    c[i] = MAX(MIN(c[i], 1000), -1000) + abs(b[i]) + clamp(a[i], -2, 3);
    c[i] -= (a[i] < b[i]) + (a[i] == 3 || !b[i]) * 2;
    c[i] *= -(+i) + 'a';
    c[i] %= 1 + SQUARE(b[i]);
  }
}

void floats(int n, float scale, const float a[n], const float b[n], float c[n]) {
  for (int i = 0; i < n; i++) {
    c[i] = fminf(a[i], b[i]) * fmaxf(a[i], -b[i]) + sqrtf(fabsf(a[i]));
    c[i] += fmaf(a[i], b[i], scale) / 3.0f - blend(a[i], b[i], 0.25f);
    c[i] = a[i] < b[i] ? c[i] : -c[i];
    c[i] *= i + n;
    c[i] += (float)(1.0 / 3.0) + (float)1e-3 + (a[i] >= b[i]);
    if (a[i] != a[i]) c[i] = INFINITY;
  }
}

void scalars(int n, int count, short offset, float x[n], float *norm) {
  *norm = 0;
  count = count * 2;
  for (int i = 0; i < n; i++) {
    if (count > 3) x[i] = x[i] + 1.0f;
    count--;
    *norm += x[i] * x[i];
  }
  if (offset == 2) *norm = -*norm;
}

void cubes(float A[4][5][6], int n) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      for (int k = 0; k < n; k++)
        A[i][j + 1][k] = A[i][j][k] + 1.0f;
}

void bare(int n, int m, float *A, const float *x, float (*B)[m]) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {
      A[i * m + j] += x[j];
      B[i][j] = A[(i + 1) * m - m + j];
    }
}

void region(int n, float A[n]) {
  int i;
  float first = 2.0f;
  printf("before\n");
#pragma scop
  for (i = 0; i < n; i++)
    A[i] *= first;
#pragma endscop
  printf("after\n");
}

void assumes(int n, float A[n]) {
  __builtin_assume(n >= 2);
  A[0] = A[1];
  return;
}

void asserts(int n, int m, int A[n]) {
  assert(n >= m && m > 0);
  (void)0;
  for (int i = 0; i < n; i++)
    do A[i] += A[m - 1]; while (0);
}

void steps(int n, float A[n]) {
  for (int i = 0; i < n; i++) A[i] = A[i] > 0 ? i < 2 ? 1 : i : A[i] < -1;
}

/** Documented, as well as its \p n and \p m. */
void named(int n, int m, float A[n], int B[n][SIDES]) {
  /// a documented variable
  int more = TWICE;
  for (int i = 0; i < n; i++) A[i] = A[i] * THIRD - NEAR_HALF;
  for (int i = 0; i < n; i++)
    for (int j = SHIFT; j < SIDE; j++)
      if (i + FIRST < m) B[i][j] = B[i][j] * SIDES - B[i][j - SHIFT] + more;
}

int main(void) {
  for (int i = 0; i < 3; i++)
    puts("not called");
  return 0;
}

static const short LOW = -7;
static const unsigned char MOST = 255, WRAPPED = 300;
const unsigned short PORTS = 65535;
static const signed char STEP = MOST - 128;
void narrow_constants(int n, const int a[n], int b[n], short h[n]) {
  for (int i = 0; i < n; i++) {
    b[i] = a[i] * WRAPPED + PORTS - STEP;
    h[i] = h[i] + LOW;
    if (i < MOST - 253) b[i] += MOST;
  }
}

typedef int quad[4];
typedef quad pair_of_quads[2];
typedef float image[3][4];
void arrays_by_name(int n, const quad a, quad rows[n], const pair_of_quads c, image f) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < 4; j++) rows[i][j] += a[j] * c[1][3 - j];
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 4; j++) f[i][j] = f[i][j] * 2.0f;
}
