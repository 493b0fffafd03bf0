/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that the command line runs, or refuses. */
struct point {
  int x;
  double y[2];
  unsigned char tag;
};
int dot(int n, const int a[n], const int c[n]) {
  int sum = 0;
  for (int i = 0; i < n; i++) sum += a[i] * c[i];
  return sum;
}
int total(int n, const int *a) {
  int sum = 0;
  for (int i = 0; i < n; i++) sum += a[i];
  return sum;
}
void scale(int n, int m, double a[n][m], float by, unsigned char *times) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) a[i][j] *= by;
  ++*times;
}
unsigned char move(long n, struct point p[n], struct point *first, _Bool up) {
  for (long i = 0; i < n; i++) p[i].x += first->x, p[i].y[up] = first->y[1] + (double)i;
  return (unsigned char)(p[0].tag + 250);
}
long width(void) { return (long)sizeof(long); }
double half(double x) { return x / 2; }
int quotient(int a, int b) { return a / b; }
int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
double variable(int n) {
  double t[n];
  for (int i = 0; i < n; i++) t[i] = i;
  return t[n - 1];
}
int *somewhere(int n, int a[n]) { return a + n / 2; }
int indirect(int n, int **a) { return a[n][n]; }
union either {
  int i;
  float f;
};
struct pair {
  int a;
  float b;
};
int by_value(struct pair p) { return p.a; }
int overlaid(union either *u) { return u->i; }
int beyond(int n, const int a[n]) { return a[n]; }
int pointed(int n, int a[n]) {
  int *volatile p = a;
  return p[n - 1];
}
#include <stdbool.h>
bool any(bool a, _Bool b) { return a || b; }
static const char ROWS[3][8] = {"ab", "cde", "f"};
int length(unsigned row) {
  const char *s = ROWS[row % 3];
  int n = 0;
  while (s[n]) n++;
  return n;
}
int forever(int n) {
  for (volatile int i = n; i == n;) continue;
  return n;
}
int deeper(int n) {
  volatile int t[9] = {n};
  return deeper(n + 1) + t[n & 7];
}
int somewhere_else(int);
int elsewhere(int n) { return n ? elsewhere(n - 1) : somewhere_else(n); }
static __attribute__((noinline)) int least(const int *a, int from, int n) {
  int k = from;
  for (int i = from; i < n; i++) k = a[i] < a[k] ? i : k;
  return k;
}
static void sort(int *a, int from, int n) {
  if (from >= n) return;
  int k = least(a, from, n), t = a[k];
  a[k] = a[from], a[from] = t;
  sort(a, from + 1, n);
}
void partition(int n, int a[n]) { sort(a, 0, n); }
typedef short row[3];
typedef row both[2];
void rows(int n, row a[n], const row b) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < 3; j++) a[i][j] += b[j];
}
int matrix(const both a) { return a[0][0] * a[1][1] - a[0][1] * a[1][0]; }
int unset(int n) {
  int m, k;
  if (n < 0) m = n;
  for (k = 0; m != 77; k++) continue;
  return k;
}
int astray(int n, const int a[n]) {
  int k = 0;
  while (a[k * 100000] != 123456) k++;
  return k;
}
void sums(int n, const int a[n], const int c[n], int s[n], int t[n]) {
  for (int i = 0; i < n; i++) {
    s[i] = a[i] + c[i];
    t[i] += s[i];
  }
}
void squeezed(int n, const int a[n], int s[n]) {
  int k = 0;
  for (int i = 0; i < n; i++)
    if (a[i]) s[k++] = a[i];
}

/* What a run cannot pass, and what an instruction set lacks. */
int applied(int (*f)(int), int x) { return f(x); }
int added(int n, int a[n]) {
  int s = 0;
  for (int i = 0; i < n; i++) s += __atomic_fetch_add(&a[i], i, __ATOMIC_RELAXED);
  return s;
}
