/* SPDX-License-Identifier: Apache-2.0 */
/* C functions that call: recursion, and helpers that stay calls because they are `noinline`, and not static, so that
   clang leaves them all of their parameters. Pointers as in functions.c. */
#define CALLED __attribute__((noinline))
typedef long long i64;
typedef unsigned long long u64;
typedef unsigned int u32;
typedef unsigned char u8;
typedef unsigned short u16;

/* Recursion. */
static int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
int fibonacci(int n) { return fib(n & 15); }
static u32 ack(u32 m, u32 n) { return m == 0 ? n + 1 : n == 0 ? ack(m - 1, 1) : ack(m - 1, ack(m, n - 1)); }
u32 ackermann(u32 m, u32 n) { return ack(m & 1, n & 7) + ack(2, n & 3); }
int divisor(int a, int b) { return b == 0 ? a : divisor(b, (a == -2147483647 - 1 && b == -1) ? 0 : a % b); }
i64 factorial(i64 n) { return (n & 31) < 2 ? 1 : (n & 31) * factorial((n & 31) - 1); }
static void hanoi(int n, int from, int to, int over, int *a) {
  if (n == 0) return;
  hanoi(n - 1, from, over, to, a);
  a[15]++, a[from] -= n, a[to] += n;
  hanoi(n - 1, over, to, from, a);
}
void towers(int n, int *a) { hanoi(n & 7, 0, 1, 2, a); }
static _Bool odd(u32 n);
static _Bool even(u32 n) { return n == 0 ? 1 : odd(n - 1); }
static _Bool odd(u32 n) { return n == 0 ? 0 : even(n - 1); }
int parity(int n) { return even((u32)n & 255) * 2 + odd((u32)n & 63); }
static i64 female(i64 n);
static i64 male(i64 n) { return n == 0 ? 0 : n - female(male(n - 1)); }
static i64 female(i64 n) { return n == 0 ? 1 : n - male(female(n - 1)); }
i64 hofstadter(i64 n) { return male(n & 15) * 16 + female(n & 7); }
static void quick(int *a, int from, int to) {
  if (to - from < 2) return;
  int pivot = a[from], i = from;
  for (int k = from + 1; k < to; k++)
    if (a[k] < pivot) {
      int t = a[k];
      a[k] = a[++i], a[i] = t;
    }
  a[from] = a[i], a[i] = pivot;
  quick(a, from, i), quick(a, i + 1, to);
}
void quicksort(int *a) { quick(a, 0, 16); }
static void merge(int *a, int n) {
  int b[16], i = 0, j = n / 2;
  if (n < 2) return;
  merge(a, n / 2), merge(a + n / 2, n - n / 2);
  for (int k = 0; k < n; k++) b[k] = j == n || (i < n / 2 && a[i] <= a[j]) ? a[i++] : a[j++];
  for (int k = 0; k < n; k++) a[k] = b[k];
}
void mergesort(int *a) { merge(a, 16); }
static int place(int n, int row, u32 columns, u32 up, u32 down) {
  int count = 0;
  if (row == n) return 1;
  for (int k = 0; k < n; k++)
    if (!(columns >> k & 1 || up >> (row + k) & 1 || down >> (row - k + n) & 1)) count += place(n, row + 1, columns | 1u << k, up | 1u << (row + k), down | 1u << (row - k + n));
  return count;
}
int queens(int n) { return place(n & 3 ? (n & 3) + 2 : 6, 0, 0, 0, 0); }
static int left[16], right[16], root, nodes;
static int insert(int at, const int *a, int node) {
  if (at < 0) return node;
  if (a[node] < a[at]) left[at] = insert(left[at], a, node); else right[at] = insert(right[at], a, node);
  return at;
}
static int walk(int at, const int *a, int depth) { return at < 0 ? 0 : walk(left[at], a, depth + 1) * 3 + a[at] * depth + walk(right[at], a, depth + 1); }
int tree(const int *a) {
  root = -1, nodes = 0;
  for (int k = 0; k < 16; k++) left[k] = right[k] = -1, root = insert(root, a, k), nodes++;
  return walk(root, a, 1) + nodes;
}
static double power(double x, u32 n) { return n == 0 ? 1 : n & 1 ? x * power(x, n - 1) : power(x * x, n / 2); }
double powers(double x, u32 n) { return power(x < 4 && x > -4 ? x : 1.25, n & 31) + power(0.5, n & 7) * x; }
static float fraction(const float *f, int n) { return n == 0 ? f[0] : f[n] + 1.0f / (fraction(f, n - 1) + 20.0f); }
float continued(const float *f, int n) { return fraction(f, n & 15); }
static int characters(const signed char *b, int n, u8 sum) { return n == 0 ? sum : characters(b, n - 1, (u8)(sum * 5 + b[n])) + (sum & 1); }
int hashed(const signed char *b, u8 sum) { return characters(b, 15, sum); }
static int collatz(i64 n, int steps) { return n == 1 ? steps : collatz(n & 1 ? 3 * n + 1 : n / 2, steps + 1); }
int steps(int n) { return collatz((n & 255) + 1, 0); }

/* The convention. */
CALLED u8 byte(int x) { return (u8)(x * 3); }
CALLED signed char character(int x) { return (signed char)(x * 5); }
CALLED u16 halfword(i64 x) { return (u16)(x - 1); }
CALLED short small(i64 x) { return (short)(x + 40000); }
CALLED _Bool truth(u32 x) { return x & 4; }
int narrow_results(int x, i64 y) { return byte(x) + character(x) * 2 - halfword(y) + small(y) * 3 + truth((u32)x); }
CALLED int narrow(u8 a, signed char b, u16 c, short d, _Bool e) { return a / 3 + b / 3 + c / 3 + d / 3 + e; }
int narrow_arguments(int x, int y) { return narrow((u8)x, (signed char)x, (u16)y, (short)y, x > y) + narrow((u8)(x + y), (signed char)(x * y), (u16)(x - y), (short)(x ^ y), 1); }
CALLED i64 on_the_stack(int a, i64 b, int c, i64 d, int e, i64 f, u8 g, i64 h, short i, i64 j, u16 k, signed char l) { return a - b + c * 3 - d * 5 + e - f * 7 + g - h * 9 + i - j * 11 + k - l; }
i64 many_arguments(int x, i64 y, i64 z) { return on_the_stack(x, y, x + 1, z, x - 1, y + z, (u8)x, y - z, (short)x, y ^ z, (u16)x, (signed char)x) + on_the_stack(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12); }
CALLED double floats(double a, float b, double c, float d, double e, float f, double g, float h, double i, float j, int k, double l, float m) { return a - b + c * 2 - d * 3 + e * 4 - f * 5 + g * 6 - h * 7 + i * 8 - j * 9 + k + l * 10 - m * 11; }
double float_arguments(double x, float y, int k) { return floats(x, y, x + 1, y + 1, x - 1, y - 1, x * 2, y * 2, x / 2, y / 2, k, x + y, y + 3) + floats(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13); }
CALLED double float_stack(int a, int b, int c, int d, int e, int f, int g, double h0, double h1, double h2, double h3, double h4, double h5, double h6, double h7, double x, float y, double z, float w) { return a + b + c + d + e + f + g + h0 + h1 + h2 + h3 + h4 + h5 + h6 + h7 * 2 + x * 3 - y * 4 + z * 5 - w * 6; }
double floats_after_integers(int a, double x, float y) { return float_stack(a, a + 1, a + 2, a + 3, a + 4, a + 5, a + 6, x, x + 1, x + 2, x + 3, x + 4, x + 5, x + 6, x + 7, x * 2, y, x * 3, y * 2); }
CALLED float singles(float a, float b, int c, float d, float e, float f, i64 g, float h, float i, float j, float k, float l, int m, int n, int o, int p, float q, float r) { return a - b + c + d * 2 - e * 3 + f * 4 + (int)(g >> 1) + h * 5 - i * 6 + j * 7 - k * 8 + l * 9 + m - n + o - p + q * 10 - r * 11; }
float single_arguments(float x, int k) { return singles(x, x + 1, k, x + 2, x + 3, x + 4, k & 255, x + 5, x + 6, x + 7, x + 8, x + 9, 1, 2, 3, 4, x * 2, x * 3); }
CALLED int through(int *a, const int *c, int n) {
  for (int k = 0; k < n; k++) a[k] += c[15 - k];
  return a[0] - a[1];
}
int pointed(int *a, const int *c, int n) {
  int b[16];
  for (int k = 0; k < 16; k++) b[k] = c[k] * k;
  return through(a, c, n & 15) + through(b, a, 16) * 3 + through(a, b, n & 3) + b[7];
}
static int counter;
CALLED void count(int by) { counter += by; }
CALLED int counted(void) { return counter; }
int effects(int n) {
  counter = 0;
  for (int k = 0; k < (n & 7); k++) count(k), count(counted());
  return counted();
}

/* Values across calls. */
CALLED int mixed(int x, int y) { return x * 31 ^ y; }
int across(const int *a, int n) {
  int b = a[0], c = a[1], d = a[2], e = a[3], f = a[4], g = a[5], h = a[6], i = a[7], j = a[8], k = a[9], l = a[10], m = a[11], o = a[12], p = a[13], sum = 0;
  for (int x = 0; x < (n & 3) + 1; x++) {
    sum += mixed(b, c) + mixed(d, e) * b + mixed(f, g) * c + mixed(h, i) * d + mixed(j, k) * e + mixed(l, m) * f + mixed(o, p) * g;
    b += h, c -= i, d ^= j, e += k, f -= l, g ^= m, h += o, i -= p, j += sum;
  }
  return sum + b + c + d + e + f + g + h + i + j + k + l + m + o + p;
}
CALLED int rounded(double x) { return (int)(x * 0.5); }
int behind_a_join(int n, int *a) {
  double x = n % 1000;
  if (n & 1) a[n & 7] = n * 3;
  else x = n % 100 * 7;
  return rounded(x) + rounded(-x);
}
CALLED double scaled(double x, int k) { return x * 0.5 + k; }
double floats_across(const double *d, int n) {
  double a = d[0], b = d[1], c = d[2], e = d[3], f = d[4], g = d[5], h = d[6], i = d[7], j = d[8], k = d[9], l = d[10], m = d[11], o = d[12], p = d[13], sum = 0;
  for (int x = 0; x < (n & 3) + 1; x++) {
    sum = scaled(sum + a, x) + scaled(b, x) * a + scaled(c, x) * b + scaled(e, x) * c + scaled(f, x) * e + scaled(g, x) * f;
    a += h, b -= i, c += j, e -= k, f += l, g -= m, h += o, i -= p;
  }
  return sum + a + b + c + e + f + g + h + i + j + k + l + m + o + p;
}
CALLED i64 longer(i64 x, int k) { return x * 3 - k; }
i64 longs_across(const i64 *w, int n) {
  i64 a = w[0], b = w[1], c = w[2], d = w[3], e = w[4], f = w[5], g = w[6], sum = 0;
  for (int x = 0; x < (n & 3) + 1; x++) sum += longer(a, x) * b + longer(c, n) * d + longer(e, x) * f, a += g, b -= sum, c ^= a, d += b;
  return sum + a + b + c + d + e + f + g;
}
int chain(int x) { return mixed(mixed(mixed(x, 1), mixed(2, x)), mixed(mixed(x, x), x)); }
int conditional(int x, int y) { return x > y ? mixed(x, y) : x < -5 ? mixed(y, x) + 1 : 7; }
CALLED int large(int n) {
  int t[1200];
  for (int k = 0; k < 1200; k++) t[k] = k * n;
  return t[n & 1023] + mixed(t[7], t[1199]);
}
int large_frames(int n) { return large(n) + large(n + 1); }
