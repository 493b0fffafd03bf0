/* SPDX-License-Identifier: Apache-2.0 */
/* What SSA form reads, a function for each: the tests run every one natively and in the interpreter. Arrays have 16 elements. */
#include <math.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

static const int table[4] = {1, -2, 3, 40};
static int counter = 5;
struct pair {
  char tag;
  double weight;
  short parts[3];
};

int dot(int n, const int *a, const int *b) {
  int sum = 0;
  for (int i = 0; i < (n & 15); i++) sum += a[i] * b[i];
  return sum;
}

unsigned char choose(int x, unsigned z) {
  unsigned char y = (unsigned char)z;
  switch (x & 7) {
  case 1: return y + 1;
  case 2: y *= 3;
  case 5: y -= 7; break;
  case 7: return 9;
  default: y = ~y;
  }
  return y;
}

long widths(signed char a, short b, int c, unsigned long d) { return (a * b) ^ ((long)c << 7) ^ (long)(d >> (b & 63)) ^ (a < b) ^ ((unsigned)c >> (a & 31)); }

int divide(int a, int b) {
  if (b == 0 || b == -1) return a;
  return a / b * 31 + a % b + (int)((unsigned)a / (unsigned)b);
}

double mixed(float a, double b, long c, unsigned e) {
  unsigned char d = (unsigned char)e;
  float x = a * 1.5f - (float)c;
  double y = b / (x + 0.1) + (double)d;
  if (a < b || a != a) y = -y;
  return fabs(y) > 1e6 ? sqrt(fabs(y)) : y + (int)(d * 0.3f);
}

float single(float a, float b) {
  float s = 0;
  for (int i = 0; i < 5; i++) s = s * a + b / (float)(i + 3);
  return fmaxf(s, a) - fminf(b, 1.0f / 3.0f);
}

int bubble(int *a) {
  int swaps = 0;
  for (int i = 0; i < 16; i++)
    for (int j = 0; j + 1 < 16 - i; j++)
      if (a[j] > a[j + 1]) {
        int t = a[j];
        a[j] = a[j + 1];
        a[j + 1] = t;
        swaps++;
      }
  return swaps;
}

int structures(struct pair *p, int k) {
  struct pair q = *p;
  q.parts[k & 1] += 3;
  q.weight *= 2.0;
  p[1] = q;
  p->tag = (char)k;
  return q.parts[0] + q.parts[1] + (int)sizeof q;
}

int globals(int k) {
  counter += table[k & 3];
  return counter * 2;
}

int addresses(int *a) {
  __builtin_memcpy(a, table + 1, 8);
  return a[0] + a[1];
}

int devices(volatile int *p, _Atomic int *q) {
  int r = *p;
  atomic_store_explicit(q, r, memory_order_release);
  atomic_thread_fence(memory_order_acq_rel);
  return atomic_load_explicit(q, memory_order_acquire) + r;
}

_Bool logic(long a, int b) { return (a > b && b != 3) || !a; }

int collatz(unsigned n) {
  int steps = 0;
  n = (n & 1023) + 1;
  while (n != 1) {
    n = n & 1 ? 3 * n + 1 : n / 2;
    if (++steps > 300) break;
  }
  return steps;
}

long local_array(int n) {
  long a[8];
  for (int i = 0; i < 8; i++) a[i] = (long)i * n;
  long *p = a + (n & 3);
  return p[0] + p[4] + a[7];
}

int jumps(int a, int b) {
  a &= 31, b &= 31;
  if (a > b) goto second;
first:
  b += 3;
  if (b > 20) return a * b;
second:
  a -= 1;
  if (a < -20) return a;
  goto first;
}

int extremes(int a, int b) {
  int c = a < b ? a : b, d = a < 0 ? -a : a;
  unsigned e = (unsigned)a > (unsigned)b ? (unsigned)a : (unsigned)b;
  return c ^ d ^ (int)(e >> 3) ^ __builtin_popcount((unsigned)b) ^ __builtin_clz((unsigned)a | 1) ^ (int)__builtin_bswap32((unsigned)b);
}

unsigned long rotate(unsigned long x, int k) { return x << (k & 63) | x >> (-k & 63); }

void bytes(unsigned char *to, const unsigned char *from) {
  memset(to, 7, 16);
  memcpy(to + 2, from + 3, 5);
}

static int hidden(int x) { return x * x + 1; }

int uses_hidden(int x) { return x + 1; }

float bits(unsigned x) {
  union {
    unsigned u;
    float f;
  } c = {(x & 0x007fffff) | 0x3f800000};
  return c.f;
}

int bitfield(int x) {
  struct {
    unsigned a : 3;
    int b : 7;
    unsigned c : 22;
  } s = {0};
  s.a = (unsigned)x;
  s.b = x >> 3;
  s.c = (unsigned)x * 5;
  return (int)s.a + s.b * 2 + (int)s.c;
}

_Bool vowel(int c) {
  c = c & 15 | 96;
  return c == 'a' || c == 'e' || c == 'i' || c == 'o' || c == 'u';
}

struct packed {
  int a : 24;
  int b : 23;
  char c;
} __attribute__((packed));

struct three {
  int a : 24;
} __attribute__((packed));

long fields(struct packed *p, int x) {
  p->b = x;
  p->a = p->a * 3 - x;
  p[1] = *p;
  return p[1].a + p[1].b * 2L + p->c;
}

int three(struct three *p, int x) {
  p[2].a = p[1].a + x;
  return p[2].a ^ p->a;
}

int odd24(int x, int y) {
  _BitInt(24) a = x, b = y | 1;
  _BitInt(24) c = a * b - (a >> 3);
  return (int)(c / (b == -1 ? 3 : b) + c % (b == -1 ? 5 : b)) + (a < b) * 2 + (int)((unsigned _BitInt(24))c >> 5);
}

long odd33(long x, long y) {
  unsigned _BitInt(33) a = x, b = y;
  a = a * b + (a << 7) - (b ^ 12345);
  return (long)(a >> 3) + (a < b) + (long)(a % (b | 1));
}

double odd_float(double x, int y) {
  _BitInt(40) a = (_BitInt(40))(y * 1001L);
  return (double)a * (x > 0 && x < 1000 ? (double)(unsigned _BitInt(19))x : 0.5);
}

int odd_switch(int x) {
  unsigned _BitInt(5) k = x;
  switch (k) {
  case 3: return 7;
  case 31: return -1;
  case 16: return x;
  default: return (int)k * 2;
  }
}

int order(int a, int b) { return (a > b) - (a < b); }

int unsigned_order(unsigned long a, unsigned long b) { return (a > b) - (a < b); }

double fused(double a, float b, double c) { return fma(a, (double)b, c) + (double)fmaf((float)a, b, (float)c); }

/* Arithmetic that tells of overflow. */
int checked(int a, int b, unsigned char *c) {
  int sum, difference, product;
  unsigned char byte;
  int told = __builtin_add_overflow(a, b, &sum) + 2 * __builtin_sub_overflow(a, b, &difference) + 4 * __builtin_mul_overflow(a, b, &product);
  told += 8 * __builtin_mul_overflow(c[0], c[1], &byte);
  return told ^ sum ^ difference ^ product ^ byte;
}
long checked_long(long a, long b, unsigned long c) {
  long sum, difference, product;
  unsigned long whole, less, times;
  int told = __builtin_add_overflow(a, b, &sum) + 2 * __builtin_sub_overflow(a, b, &difference) + 4 * __builtin_mul_overflow(a, b, &product);
  told += 8 * __builtin_add_overflow(c, (unsigned long)b, &whole) + 16 * __builtin_sub_overflow(c, (unsigned long)b, &less);
  return (told + 32 * __builtin_mul_overflow(c, (unsigned long)a, &times)) ^ sum ^ difference ^ product ^ (long)(whole ^ less ^ times);
}
