/* SPDX-License-Identifier: Apache-2.0 */
/* What C has several ways to write; test_canonical.py compares each function with its nest. n is 4, m is 3. */
#include <stddef.h>
#include <string.h>

void effects(int n, int A[n], int B[n], int C[2 * n]) {
  int k = 0, last;
  for (int i = 0; i < n; i++) {
    A[i] = last = B[i] = 2 * B[i];
    C[k++] = last, C[k++] = -last;
  }
}

void before_and_behind(int n, int A[n + 1], int B[n + 1]) {
  int k = 0;
  for (int i = 0; i < n; i++) A[++k] = B[i];
  for (int i = 0; i < n; i++) B[--k] = A[i];
}

void continues(int n, int A[n], int B[n]) {
  for (int i = 0; i < n; i++) {
    if (A[i] < 0) {
      B[i] = 1;
      continue;
    } else if (i == 2)
      continue;
    B[i] = 3;
    if (A[i] == 0) continue;
    B[i] += A[i];
  }
}

void labels(int n, int A[n]) {
outer:
  for (int i = 0; i < n; i++)
  inner:
    A[i] += i;
}

void steps(int n, int A[3 * n + 1], int B[3 * n + 1]) {
  for (int i = 0; i < 3 * n + 1; i += 3) A[i] = i;
  for (int i = 3 * n; i >= 0; i -= 2) B[i] = i;
  for (int i = 1; i < n; i += 2) A[i] = -i;
  for (int i = 0; i != 3 * n; i += 3) B[i] += 5;
}

void whiles(int n, int A[n], int B[n], int C[n]) {
  int i = 0, j = n, k = 2;
  while (i < n) {
    A[i] = k;
    i += 2;
    k--;
  }
  while (j-- > 0) B[j] = A[j];
  for (size_t k = n; k-- > 0;) C[k] = B[k] + 1;
}

void behind_loops(int n, int m, int A[n + m]) {
  int i, k = 0;
  for (i = 0; i < n; i++, k++) A[i] = 1;
  for (i = 0; i < m; i++) A[k + i] = 2;
}

void clamps(int n, int A[n], int B[n]) {
  for (int i = 0; i < n; i++)
    for (int d = -2; d <= 2; d++) {
      int x = i + d;
      if (x < 0) x = -x - 1;
      if (x >= n) x = n - 1;
      A[i] += B[x];
    }
}

void remainders(int A[12], int B[12], int C[12]) {
  for (int i = 0; i < 12; i++) A[i] = B[(i + 11) % 12] - B[(i + 1) % 12];
  for (int i = -3; i < 9; i++) C[i + 3] = B[(i % 5 + 5) % 5];
  for (int i = 0; i < 12; i++) C[i] += B[i / 3 * 3] + B[i % 4] + B[i & 3] + B[i >> 1];
}

void flattened(int n, int A[4 * n], int B[n], int C[4]) {
  for (int t = 0; t < 4 * n; t++) A[t] = B[t / 4] * C[t % 4];
  for (int t = 1; t < 4 * n; t++)
    if (t % 4 == 0) A[t] += 100;
}

static const int ramp[5] = {1, 2, 3};
static const float grid[2][2] = {{1.0f, 2.0f}, {3.0f}};

void tables(int n, int A[n], float B[2][2]) {
  static const int own[2][2] = {{4, 3}, {2, 1}};
  int filled[5] = {n, 7};
  for (int i = 0; i < n; i++) A[i] += ramp[i] * own[i % 2][1] + filled[i];
  for (int i = 0; i < 2; i++)
    for (int j = 0; j < 2; j++) B[i][j] *= grid[i][1 - j];
}

struct point {
  int x, y;
};
typedef struct {
  float low, high;
} range;

void structures(int n, int A[n], int B[n], float F[n]) {
  struct point p = {.y = 3}, q;
  range r;
  r.low = r.high = F[0];
  for (int i = 0; i < n; i++) {
    q = p;
    p.x = q.y + A[i];
    p.y = q.x;
    B[i] = p.x * p.y;
    if (F[i] < r.low) r.low = F[i];
    if (F[i] > r.high) r.high = F[i];
  }
  F[n - 1] = r.high - r.low;
}

static int sign(int x) {
  if (x < 0) return -1;
  return x > 0;
}

static int both(int x, int y) {
  int s = sign(x);
  if (s == 0) return y;
  s += sign(y);
  return s * 10;
}

static void swap(int *a, int *b) {
  int t = *a;
  *a = *b;
  *b = t;
}

static void add_row(int m, int *row, const int *by) {
  for (int j = 0; j < m; j++) row[j] += by[j];
}

void helpers(int n, int m, int A[n], int B[n], int C[n][m], int D[m]) {
  for (int i = 0; i < n; i++) {
    int low = A[i], high = B[i];
    if (sign(low) + both(low, high) > 1) swap(&low, &high);
    A[i] = low - both(high, low);
    B[i] = high;
    add_row(m, C[i], D);
  }
}

void walks(int n, int A[n], int B[n], int C[2 * n]) {
  int *p = A + 1, *q = &C[n];
  *A = 5;
  for (int i = 1; i < n; i++) *p++ = B[i];
  for (int i = 0; i < n; i++) *q++ += 1;
}

int returned(int n, int A[n]) {
  int s = 0;
  for (int i = 0; i < n; i++) s += A[i] * A[i];
  if (s > 100) return 100;
  return s;
}

void products(int n, int m, float A[n * m], float B[m * n * 2]) {
  for (int i = 0; i < n; i++) {
    int row = i * m;
    for (int j = 0; j < m; j++) A[row + j] += B[(j * n + i) * 2] - B[(j * n + i) * 2 + 1];
  }
}

void counts(unsigned n, size_t m, long k, int A[n][m], int B[k]) {
  for (unsigned i = 0; i < n; ++i)
    for (size_t j = 0; j < m; ++j) A[i][j] += (int)i;
  for (long i = k - 1; i >= 0; --i) B[i] -= 1;
}

void cleared(int n, float A[n], const float B[n]) {
  memset(A, 0, n * sizeof(float));
  for (int i = 1; i < n; i++) A[i] = A[i - 1] + B[i];
}

void copied(unsigned n, short A[n], const short B[n]) {
  memcpy(A, B, sizeof(short) * n);
  for (unsigned i = 0; i < n; i++) A[i] += 1;
}

void copied_rows(int n, int A[n][4], const int B[n][4]) {
  for (int i = 0; i < n; i++) memcpy(A[i], B[i], sizeof(A[i]));
}

void copied_matrix(int n, int m, int A[n][m], int B[n][m]) {
  memcpy(A, B, sizeof(int) * n * m);
  memset(A[0], 1, m << 2);
}

void filled_bytes(int n, int v, unsigned char A[2 * n], signed char B[n]) {
  (void)memset(A + n, v, n);
  memset(B, -3, n);
  __builtin_memcpy(A, B, (size_t)n);
}

void filled_local(int n, int A[n], unsigned B[n]) {
  int t[2][3];
  memset(t, 0xff, sizeof(t));
  for (int i = 0; i < n; i++) A[i] = t[1][2] + t[0][i % 3];
  memset(B, 0x80, 4 * n);
}

void copied_tail(int n, float A[n], const float B[n]) {
  float *p = A + 2;
  memcpy(p, &B[1], (n - 2) * 4);
}

void copied_scalars(int n, int A[n], const int B[n]) {
  for (int i = 0; i < n; i++) {
    int x;
    memcpy(&x, B + i, sizeof x);
    memcpy(&A[i], &x, 4);
  }
}

static inline int next_pair(const short **at) {
  int pair;
  memcpy(&pair, *at, 4);
  *at += 2;
  return pair;
}

void copied_parts(int n, int A[n], const short B[2 * n], signed char C[4 * n]) {
  const short *b = B;
  for (int i = 0; i < n; i++) {
    int x = next_pair(&b);
    A[i] = x;
    x = x * 1000003;
    memcpy(C + 4 * i, &x, sizeof(x));
  }
}

static int with_extra(const int *p, const int *extra, int i) {
  if (extra == NULL) return 2 * p[i];
  return p[i] + extra[i];
}

static void add_bias(int *to, const int *from, const int *bias, int n) {
  for (int i = 0; i < n; i++) {
    int sum = from[i];
    if (bias) sum += *bias++;
    *to++ = sum;
  }
}

void null_tests(int n, int A[n], int B[n], int C[n]) {
  const int *at = A + 1, *none = NULL;
  if (at && C)
    for (int i = 1; i < n; i++) B[i] = *at++;
  if (none) B[0] = none[2];
  if (!A || n == 2) B[0] = 7;
  B[1] += none != NULL ? none[1] : with_extra(C, NULL, 1);
  B[2] += with_extra(C, C + 1, 2) + (B ? 1 : 2);
  add_bias(A, B, NULL, n);
  add_bias(C, A, B, n);
}

static unsigned char leading(unsigned data) {
  if (data == 0U) return 32U;
  unsigned count = 0U, mask = 0x80000000U;
  while ((data & mask) == 0U) {
    count += 1U;
    mask = mask >> 1U;
  }
  return (unsigned char)(count + (mask == 1U));
}

void leading_zeros(int n, int A[n], int B[n]) {
  for (int i = 0; i < n; i++) {
    unsigned bit;
    int zeros = 3;
    B[i] = leading(A[i]);
    bit = 1U << 31;
    bit = 0x80000000U;
    while (!(bit & (B[i] + 1U))) {
      bit >>= 1;
      zeros++;
    }
    A[i] = leading(A[i] * 77) - zeros;
  }
}

extern const int weights[3];

void declared_table(int n, int A[n]) {
  for (int i = 0; i < 3; i++) A[i] *= weights[i];
}

const int weights[3] = {2, -1, 5};

static int bump(int *p) { return (*p)++; }
static int put(int *p, int v) {
  if (v > 3) return *p = v;
  return p[1] = v;
}
static int again(int *p) { return bump(p); }
static int nothing(void) { return 0; }

void values_not_taken(int n, int A[n + 1], int B[n]) {
  for (int i = 0; i < n; i++) {
    bump(&B[i]);
    (void)again(B + i);
    nothing();
  }
  for (int i = 0; i < n; i++) put(A + i, B[i]);
}
