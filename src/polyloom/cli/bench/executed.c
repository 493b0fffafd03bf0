/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of `polyloom bench riscv` whose executed instructions and bytes are counted. A pointer is to 1024
   elements: of double where its name begins with d, float f, signed char b, short h, long w, long long q, int
   otherwise. */

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
      da[i * n + j] = 0.2 * (db[i * n + j] + db[i * n + j - 1] + db[i * n + j + 1] + db[(i + 1) * n + j] +
                                   db[(i - 1) * n + j]);
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

/* 64-bit shifts by amounts that are known at run time only. */
unsigned long long shift64(const unsigned long long *q, const int *a, int n) {
  unsigned long long s = 0;
  for (int i = 0; i < n; i++) {
    int k = a[i] & 63;
    s += (q[i] << k) ^ (s >> (63 - k));
  }
  return s;
}

/* 64-bit products: a finalizer such as those of hash functions. */
unsigned long long mix64(const unsigned long long *q, int n) {
  unsigned long long h = 0;
  for (int i = 0; i < n; i++) {
    unsigned long long v = q[i] + h;
    v = (v ^ (v >> 33)) * 0xff51afd7ed558ccdull;
    v = (v ^ (v >> 29)) * 0xc4ceb9fe1a85ec53ull;
    h += v ^ (v >> 32);
  }
  return h;
}

unsigned long long divide64(const unsigned long long *q, int n) {
  unsigned long long s = 0;
  for (int i = 0; i < n; i++) {
    unsigned long long v = q[i] * 0x9e3779b97f4a7c15ull;
    s += v / (q[i + 1] * 1000003) + v % q[i + 2];
  }
  return s;
}

int popcount(const unsigned *a, int n) {
  int s = 0;
  for (int i = 0; i < n; i++) s += __builtin_popcount(a[i] * 2654435761u);
  return s;
}

int logarithms(const unsigned *a, int n) {
  int s = 0;
  for (int i = 0; i < n; i++) s += 31 - __builtin_clz(a[i]);
  return s;
}

void bit_reverse(unsigned *a, int n) {
  for (int i = 0; i < n; i++) {
    unsigned v = a[i];
    v = (v >> 1 & 0x55555555) | (v & 0x55555555) << 1;
    v = (v >> 2 & 0x33333333) | (v & 0x33333333) << 2;
    v = (v >> 4 & 0x0f0f0f0f) | (v & 0x0f0f0f0f) << 4;
    v = (v >> 8 & 0x00ff00ff) | (v & 0x00ff00ff) << 8;
    a[i] = v >> 16 | v << 16;
  }
}

void bubble_sort(int *a, int n) {
  for (int i = n - 1; i > 0; i--)
    for (int j = 0; j < i; j++)
      if (a[j] > a[j + 1]) {
        int t = a[j];
        a[j] = a[j + 1];
        a[j + 1] = t;
      }
}

void heap_sort(int *a, int n) {
  for (int top = n / 2, end = n; end > 1;) {
    int x;
    if (top > 0) {
      x = a[--top];
    } else {
      x = a[--end];
      a[end] = a[0];
    }
    int k = top;
    while (2 * k + 1 < end) {
      int child = 2 * k + 1;
      if (child + 1 < end && a[child + 1] > a[child]) child++;
      if (a[child] <= x) break;
      a[k] = a[child];
      k = child;
    }
    a[k] = x;
  }
}

/* Minima and maxima in a chain. */
void median(int *restrict a, const int *restrict b, int n) {
  for (int i = 1; i < n - 1; i++) {
    int x = b[i - 1], y = b[i], z = b[i + 1];
    int low = x < y ? x : y, high = x < y ? y : x;
    int most = high < z ? high : z;
    a[i] = low > most ? low : most;
  }
}

/* Sums that saturate, of samples of 16 bits. */
void blend(short *restrict h, const short *restrict hb, int n) {
  for (int i = 0; i < n; i++) {
    int s = h[i] * 400 + hb[i] * 400;
    if (s > 32767) s = 32767;
    if (s < -32768) s = -32768;
    h[i] = s;
  }
}

unsigned crc32(const signed char *b, int n) {
  unsigned c = -1;
  for (int i = 0; i < n; i++) {
    c ^= (unsigned char)b[i];
    for (int k = 0; k < 8; k++) c = c & 1 ? c >> 1 ^ 0xedb88320 : c >> 1;
  }
  return ~c;
}

/* The first place of one text in another. */
int search(const signed char *b, const signed char *bc, int n) {
  for (int i = 0; i < n; i++) {
    int k = 0;
    while (k < 3 && (b[i + k] & 3) == (bc[k] & 3)) k++;
    if (k == 3) return i;
  }
  return -1;
}

/* A state machine: words begin with capital letters; how many there are. */
int capitalize(signed char *b, int n) {
  int state = 0, words = 0;
  for (int i = 0; i < n; i++) {
    int c = b[i];
    switch (state) {
      case 0:
        if (c >= 'A') {
          state = 1;
          words++;
          if (c >= 'a' && c <= 'z') b[i] = c - 32;
        } else if (c == '#') {
          state = 2;
        }
        break;
      case 1:
        if (c < '0')
          state = 0;
        else if (c >= 'A' && c <= 'Z')
          b[i] = c + 32;
        break;
      default:
        if (c == '\n') state = 0;
    }
  }
  return words;
}

/* Sorted insertion into a linked list in arrays: the next ones in a, the values in b. */
int list(int *restrict a, const int *restrict b, int n) {
  int first = -1, s = 0;
  for (int i = 0; i < n; i++) {
    int before = -1, at = first;
    while (at >= 0 && b[at] < b[i]) {
      before = at;
      at = a[at];
    }
    a[i] = at;
    if (before < 0)
      first = i;
    else
      a[before] = i;
  }
  for (int at = first, k = 1; at >= 0; at = a[at], k++) s += k * b[at];
  return s;
}

struct ball {
  int x, y, dx, dy;
};

/* Structures: balls in a box. */
void bounce(struct ball *a, int n, int s) {
  for (int k = 0; k < s; k++)
    for (int i = 0; i < n; i++) {
      struct ball *p = &a[i];
      p->x += p->dx;
      p->y += p->dy;
      if (p->x < 0 || p->x > 100) p->dx = -p->dx;
      if (p->y < 0 || p->y > 100) p->dy = -p->dy;
    }
}

/* The game of life, in two dimensions. */
void life(signed char *restrict b, const signed char *restrict bc, int n) {
  for (int i = 1; i < n - 1; i++)
    for (int j = 1; j < n - 1; j++) {
      int near = 0;
      for (int k = -1; k <= 1; k++)
        for (int l = -1; l <= 1; l++) near += bc[(i + k) * n + j + l] & 1;
      int own = bc[i * n + j] & 1;
      b[i * n + j] = near == 3 || (own && near == 4);
    }
}

/* Floats: scaled by the greatest one. */
float normalize(float *f, int n) {
  float most = 0;
  for (int i = 0; i < n; i++) {
    float x = f[i] < 0 ? -f[i] : f[i];
    if (x > most) most = x;
  }
  for (int i = 0; i < n; i++) f[i] /= most;
  return most;
}
