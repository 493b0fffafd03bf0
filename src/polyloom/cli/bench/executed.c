/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of `polyloom bench riscv` whose executed instructions are counted. A pointer is to 1024 elements: of
   double where its name begins with d, float f, signed char b, long w, int otherwise. */

double dot(const double *restrict da, const double *restrict db, int n) {
  double s = 0;
  for (int i = 0; i < n; i++) s += da[i] * db[i];
  return s;
}

void axpy(double *restrict da, const double *restrict db, double c, int n) {
  for (int i = 0; i < n; i++) da[i] += c * db[i];
}

int sum(const int *a, int n) {
  int s = 0;
  for (int i = 0; i < n; i++) s += a[i];
  return s;
}

int maximum(const int *a, int n) {
  int s = a[0];
  for (int i = 1; i < n; i++)
    if (a[i] > s) s = a[i];
  return s;
}

void matmul(double *restrict da, const double *restrict db, const double *restrict dc, int n) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      double s = 0;
      for (int k = 0; k < n; k++) s += db[i * n + k] * dc[k * n + j];
      da[i * n + j] = s;
    }
}

void matvec(int *restrict a, const int *restrict b, const int *restrict c, int n) {
  for (int i = 0; i < n; i++) {
    int s = 0;
    for (int j = 0; j < n; j++) s += b[i * n + j] * c[j];
    a[i] = s;
  }
}

void fir(int *restrict a, const int *restrict b, const int *restrict c, int n) {
  for (int i = 0; i < n; i++) {
    int s = 0;
    for (int j = 0; j < 8; j++) s += b[i + j] * c[j];
    a[i] = s;
  }
}

void jacobi_1d(double *restrict da, const double *restrict db, int n) {
  for (int i = 1; i < n - 1; i++) da[i] = 0.33 * (db[i - 1] + db[i] + db[i + 1]);
}

void jacobi_2d(double *restrict da, const double *restrict db, int n) {
  for (int i = 1; i < n - 1; i++)
    for (int j = 1; j < n - 1; j++)
      da[i * n + j] = 0.2
                    * (db[i * n + j] + db[i * n + j - 1] + db[i * n + j + 1] + db[(i + 1) * n + j]
                       + db[(i - 1) * n + j]);
}

void prefix(int *a, int n) {
  for (int i = 1; i < n; i++) a[i] += a[i - 1];
}

void reverse(int *a, int n) {
  for (int i = 0, j = n - 1; i < j; i++, j--) {
    int t = a[i];
    a[i] = a[j];
    a[j] = t;
  }
}

int count(const signed char *b, int n) {
  int s = 0;
  for (int i = 0; i < n; i++) s += b[i] > 0;
  return s;
}

void sort(int *a, int n) {
  for (int i = 1; i < n; i++) {
    int x = a[i], j = i;
    while (j > 0 && a[j - 1] > x) {
      a[j] = a[j - 1];
      j--;
    }
    a[j] = x;
  }
}

int find(const int *a, int n, int x) {
  int lo = 0, hi = n;
  while (lo < hi) {
    int m = (lo + hi) / 2;
    if (a[m] < x)
      lo = m + 1;
    else
      hi = m;
  }
  return lo;
}

unsigned hash(const signed char *b, int n) {
  unsigned h = 2166136261u;
  for (int i = 0; i < n; i++) {
    h ^= (unsigned char)b[i];
    h *= 16777619u;
  }
  return h;
}

int gcd(int x, int y) {
  while (y) {
    int t = x % y;
    x = y;
    y = t;
  }
  return x;
}

void transpose(int *restrict a, const int *restrict b, int n) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) a[j * n + i] = b[i * n + j];
}

void clamp(int *a, int n, int lo, int hi) {
  for (int i = 0; i < n; i++) {
    int v = a[i];
    a[i] = v < lo ? lo : v > hi ? hi : v;
  }
}

void gather(int *restrict a, const int *restrict b, const int *restrict c, int n) {
  for (int i = 0; i < n; i++) a[i] = b[c[i] & 15];
}

void histogram(int *restrict a, const signed char *restrict b, int n) {
  for (int i = 0; i < n; i++) a[b[i] & 15]++;
}

int subsequence(int *restrict a, const signed char *restrict b, const signed char *restrict c, int n) {
  for (int i = 1; i < n; i++)
    for (int j = 1; j < n; j++) {
      int up = a[(i - 1) * n + j], left = a[i * n + j - 1];
      a[i * n + j] = b[i] == c[j] ? a[(i - 1) * n + j - 1] + 1 : up > left ? up : left;
    }
  return a[n * n - 1];
}

void floyd(int *a, int n) {
  for (int k = 0; k < n; k++)
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++) {
        int t = a[i * n + k] + a[k * n + j];
        if (t < a[i * n + j]) a[i * n + j] = t;
      }
}

void trisolv(double *restrict da, const double *restrict db, const double *restrict dc, int n) {
  for (int i = 0; i < n; i++) {
    double s = dc[i];
    for (int j = 0; j < i; j++) s -= db[i * n + j] * da[j];
    da[i] = s / db[i * n + i];
  }
}

void strided(int *a, int n, int s) {
  for (int i = 0; i < n; i++) a[i * s] = i;
}

void squares(float *restrict fa, const float *restrict fb, int n) {
  for (int i = 0; i < n; i++) {
    float x = fb[2 * i], y = fb[2 * i + 1];
    fa[2 * i] = x * x - y * y;
    fa[2 * i + 1] = 2 * x * y;
  }
}

long polynomial(const long *w, int n, long x) {
  long s = 0;
  for (int i = n - 1; i >= 0; i--) s = s * x + w[i];
  return s;
}

void convolution(int *restrict a, const int *restrict b, const int *restrict c, int n) {
  for (int i = 0; i < n - 2; i++)
    for (int j = 0; j < n - 2; j++) {
      int s = 0;
      for (int k = 0; k < 3; k++)
        for (int l = 0; l < 3; l++) s += b[(i + k) * n + j + l] * c[k * 3 + l];
      a[i * n + j] = s;
    }
}
