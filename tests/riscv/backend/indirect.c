/* SPDX-License-Identifier: Apache-2.0 */
/* C functions that call through pointers. A pointer to numbers is to 16 elements: of double where its name begins with d, long long w,
   int otherwise. */
#define CALLED __attribute__((noinline))
typedef long long i64;
typedef int (*binary)(int, int);
static int plus(int a, int b) { return a + b; }
static int minus(int a, int b) { return a - b; }
static int times(int a, int b) { return a * b; }
static int larger(int a, int b) { return a > b ? a : b; }
static const binary table[4] = {plus, minus, times, larger};
static binary changing[2] = {plus, minus};
struct operation {
  const char *name;
  binary apply;
  short cost;
};
static const struct operation operations[3] = {{"plus", plus, 1}, {"times", times, 3}, {"none", 0, 9}};
static const struct { const struct operation *first; const int *numbers; } outer = {&operations[1], (const int[]){7, 8, 9} + 1};

int tabled(int *a, int which) { return table[which & 3](a[0], a[1]) + table[(which >> 2) & 3](a[2], a[3]); }
int over_all(int *a) {
  int s = 0;
  for (int i = 0; i < 16; i++) s = table[i & 3](s, a[i]);
  return s;
}
int structured(int *a, int which) {
  int s = 0;
  for (int i = 0; i < 3; i++) {
    const struct operation *at = &operations[i];
    s += at->cost * at->name[which & 3];
    if (at->apply) s = at->apply(s, a[i]);
  }
  return s + outer.first->cost + outer.numbers[1] + outer.numbers[-1];
}
int compared(int which) {
  binary f = which & 1 ? plus : which & 2 ? minus : 0;
  return (f == plus) + 2 * (f == &minus) + 4 * (f != 0) + 8 * (table[which & 3] == f);
}
static CALLED int fold(binary f, const int *a, int n, int s) {
  for (int i = 0; i < n; i++) s = f(s, a[i]);
  return s;
}
int folded(int *a) { return fold(plus, a, 16, 0) ^ fold(larger, a, 16, -100) ^ fold(table[2], a, 3, 1); }
static CALLED binary chosen(int which) { return which > 0 ? plus : minus; }
int returned(int x, int y) { return chosen(x)(x, y) - chosen(y)(y, x); }
int in_arrays(int *a, int n) {
  binary local[4];
  for (int i = 0; i < 4; i++) local[i] = table[(i + n) & 3];
  return local[n & 3](local[(n >> 3) & 3](a[0], a[1]), a[2]);
}
int changed(int *a, int n) {
  changing[n & 1] = table[n & 3];
  int s = changing[0](a[0], a[1]) + 3 * changing[1](a[2], a[3]);
  changing[0] = plus, changing[1] = minus;
  return s;
}

/* A comparison that is handed through a recursion. */
static int rising(const void *a, const void *b) { return (*(const int *)a > *(const int *)b) - (*(const int *)a < *(const int *)b); }
static int falling(const void *a, const void *b) { return rising(b, a); }
static void sort(int *a, int from, int to, int (*order)(const void *, const void *)) {
  if (to - from < 2) return;
  int i = from;
  for (int k = from + 1; k < to; k++)
    if (order(&a[k], &a[from]) < 0) {
      int t = a[k];
      for (int j = k; j > from; j--) a[j] = a[j - 1];
      a[from] = t, i++;
    }
  sort(a, from, from + 1, order), sort(a, from + 1, to, order);
}
void sorted(int *a, int n) { sort(a, 0, 16, n & 1 ? rising : falling); }

/* States that name the next one. */
typedef int (*step)(const int *, int, int);
static int reading(const int *a, int at, int sum);
static int skipping(const int *a, int at, int sum);
static step const steps[2] = {reading, skipping};
static CALLED int go(int which, const int *a, int at, int sum) { return at == 16 ? sum : steps[which & 1](a, at, sum); }
static int reading(const int *a, int at, int sum) { return go(a[at], a, at + 1, sum + a[at]); }
static int skipping(const int *a, int at, int sum) { return go(at, a, at + 1, sum * 3); }
int machine(int *a) { return go(0, a, 0, 1); }

/* Types of arguments and results. */
static unsigned char narrow(unsigned short a, signed char b, unsigned char c) { return (unsigned char)(a / 3 + b * c); }
static i64 wide(i64 a, int b, i64 c) { return a * b - c; }
static double real(double a, int b, double c) { return a * b - c; }
static float mixed(float a, double b, i64 c) { return (float)(a + b) - (float)c; }
static i64 many(int a, i64 b, int c, i64 d, int e, i64 f, int g, i64 h, int i, i64 j) {
  return a + 2 * b + 3 * c + 5 * d + 7 * e + 11 * f + 13 * g + 17 * h + 19 * i + 23 * j;
}
static unsigned char (*const narrows[])(unsigned short, signed char, unsigned char) = {narrow, narrow};
static i64 (*wides[])(i64, int, i64) = {wide, wide};
static double (*reals[])(double, int, double) = {real, real};
static float (*mixes[])(float, double, i64) = {mixed, mixed};
static i64 (*manies[])(int, i64, int, i64, int, i64, int, i64, int, i64) = {many, many};
int narrow_ones(int x, int y) { return narrows[x & 1]((unsigned short)x, (signed char)y, (unsigned char)x) + narrows[y & 1](7, -3, 200); }
i64 wide_ones(i64 x, int y, i64 z) { return wides[y & 1](x, y, z) ^ wides[x & 1](z, y, x); }
double real_ones(double *d, int y) { return reals[y & 1](d[0], y & 15, d[1]) + mixes[y & 1]((float)d[2], d[3], y); }
i64 many_ones(i64 *w, int x) { return manies[x & 1](x, w[0], 2, w[1], 3, w[2], 4, w[3], 5, w[4]) - manies[0](1, w[5], x, w[6], x, w[7], x, w[8], x, w[9]); }
static void store(int *a, int k) { a[k & 15] = k; }
static void clear(int *a, int k) { a[k & 15] = 0; }
static void (*const writers[])(int *, int) = {store, clear};
void written(int *a, int *b, int n) {
  writers[n & 1](a, n);
  writers[(n >> 1) & 1](a, n + 1);
  b[0] += 0;
}
