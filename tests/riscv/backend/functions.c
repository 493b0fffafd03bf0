/* SPDX-License-Identifier: Apache-2.0 */
/* C functions without undefined behaviour, a feature of the backend or several each. A pointer is to 16 elements: of double where its
   name begins with d, float f, signed char b, short h, long long w, int otherwise. */
#include <math.h>
#include <stdatomic.h>
#include <string.h>

typedef long long i64;
typedef unsigned long long u64;
typedef unsigned int u32;
static const int table[8] = {3, -1, 4, 1, -5, 9, 2, -6};
static int counter = 7;
struct part {
  signed char tag;
  short pair[2];
  int value;
};
struct __attribute__((packed)) tight {
  char tag;
  int value;
  i64 wide;
  float real;
};

/* Integers. */
int linear(int x, int y) { return x * 3 + y * 7 - (x ^ y) + (x | 12) - (y & 0x7f5a); }
int constants(int x) { return (x + 123456) ^ (x * 2147483647) ^ (x - 2048) ^ (x + 2047); }
int quotients(int x, int y) { return y == 0 || (x == -2147483647 - 1 && y == -1) ? 7 : x / y * 5 + x % y + x / 7 + x % 8; }
u32 unsigned_quotients(u32 x, u32 y) { return y ? x / y * 5 + x % y + x / 10 : x; }
i64 long_quotients(i64 x, i64 y) { return y == 0 || y == -1 ? x : x / y * 5 + x % y + x / 1000; }
u64 long_unsigned_quotients(u64 x, u64 y) { return y ? x / y + x % y * 3 : ~x; }
i64 products(i64 x, i64 y, int z) { return x * y + (i64)z * z + x * 10 - (y << 5); }
unsigned char narrow(unsigned char x, signed char y, unsigned short z) { return x / 3 + y * z; }
unsigned short folded(unsigned short x, unsigned char y) { return x > y ? x - y : (unsigned short)-x; }
short unfolded(short x, unsigned short y) { return x < y ? x * y : y; }
u64 shifts(u64 x, int k) { return (x << (k & 63)) ^ (x >> (k & 31)) ^ (u64)((i64)x >> (k & 63)) ^ (x << 33) ^ (x >> 35); }
int narrow_shifts(int x, int k) { return (x << (k & 31)) ^ (int)((u32)x >> (k & 31)) ^ (x >> (k & 31)) ^ (short)(x << 3); }
int characters(int x, int y) {
  signed char a = (signed char)x, b = (signed char)y;
  unsigned char c = (unsigned char)(a * b), d = (unsigned char)(a + 200);
  return a / (b ? b == -1 ? 2 : b : 1) + c * d - (signed char)(c + d) + (c >> 3);
}
int halves(int x, int y) {
  short a = (short)x;
  unsigned short b = (unsigned short)(a * y), c = (unsigned short)(b + 70);
  return a - b + (short)(b - c) + c / (unsigned short)(b | 1);
}
u32 rotations(u32 x, u32 k) { return (x << (k & 31) | x >> (-k & 31)) ^ (x >> 7 | x << 25); }
int bits(u32 x, u64 y) { return __builtin_popcount(x) + (x ? __builtin_clz(x) * 3 + __builtin_ctz(x) * 5 : 1) + __builtin_popcountll(y) * 7 + (y ? __builtin_clzll(y) + __builtin_ctzll(y) : 2); }
u64 swaps(u32 x, u64 y) { return __builtin_bswap32(x) ^ __builtin_bswap64(y) ^ __builtin_bswap16((unsigned short)x); }
int comparisons(int x, int y) { return (x < y) + 2 * (x <= y) + 4 * (x == y) + 8 * (x != y) + 16 * ((u32)x < (u32)y) + 32 * (x > 5) + 64 * ((u32)x >= 9) + 128 * !x; }
int long_comparisons(i64 x, i64 y) { return (x < y) + 2 * (x <= y) + 4 * (x == y) + 8 * (x != y) + 16 * ((u64)x < (u64)y) + 32 * (x > 5) + 64 * ((u64)x >= 9) + 128 * !x; }
int logic(int x, int y, int z) { return (x > 0 && y > 0) || (z != 3 && !(x < z)) ? x & ~y : (x | ~z) ^ ~(y ^ z); }
i64 overflowing(i64 x, i64 y) { return __builtin_elementwise_add_sat(x, y) ^ __builtin_elementwise_sub_sat(y, x); }
int saturating(int x, int y) { return __builtin_elementwise_add_sat(x, y) ^ __builtin_elementwise_sub_sat(x, y); }
u32 unsigned_saturating(u32 x, u32 y) { return __builtin_elementwise_add_sat(x, y) + 3 * __builtin_elementwise_sub_sat(x, y); }

/* Selects. */
i64 csel(int c, i64 a, i64 b) { return c ? a : b; }
i64 csinc(int c, i64 a, i64 b) { return c < 3 ? a : b + 1; }
i64 csinv(int c, i64 a, i64 b) { return c == 3 ? a : ~b; }
i64 csneg(i64 x, i64 y, i64 a, i64 b) { return x < y ? a : -b; }
int cneg(int c, int a) { return c > 0 ? -a : a; }
int conditional_sums(int c, int a, int b) { return (c ? a + b : a) + (c > 7 ? a & b : a) * 3 + (c < b ? a ^ b : a) + (c == a ? a << 3 : a) + (c ? a - b : a); }
int masks(int x, int y) { return (x < y ? -1 : 0) + (x == y ? 0 : -1) * 3 + (x <= y ? 8 : 0) + (x > 2 ? 7 : 1000); }
int extrema(int x, int y, int z) { return (x < y ? x : y) + 2 * (x > z ? x : z) - ((u32)x < (u32)z ? x : z) + ((u32)y > (u32)z ? y : z); }
i64 clamp(i64 x, i64 low, i64 high) { return x < low ? low : x > high ? high : x; }
int absolutes(int x, int y) { return (x < 0 ? -x : x) ^ (x < y ? y - x : x - y) ^ (x > 0 ? x : 0) ^ ((x > 0) - (x < 0)); }
u32 difference(u32 x, u32 y) { return (x < y ? 0 : x - y) + (x < y ? y - x : x - y); }
const int *nothing;
int pointers(const int *a, const int *c, int k) {
  const int *p = k > 3 ? a : c;
  return p == a ? p[k & 3] : p[7] + (int)(a + 9 - &a[k & 7]);
}
double chosen(int c, double a, double b) { return c < 2 ? a : b; }

/* Control. */
int dot(int n, const int *a, const int *c) {
  int sum = 0;
  for (int i = 0; i < (n & 15); i++) sum += a[i] * c[i];
  return sum;
}
int collatz(int n) {
  u32 x = (u32)(n & 0xff) + 1, steps = 0;
  while (x != 1) x = x & 1 ? 3 * x + 1 : x / 2, steps++;
  return (int)steps;
}
int gcd(int a, int b) {
  a = a < 0 ? -(a & 0xffff) : a & 0xffff, b &= 0xffff;
  while (b) {
    int t = a % b;
    a = b, b = t;
  }
  return a;
}
int dense(int x) {
  switch (x & 7) {
  case 0: return 11;
  case 1: x += 3;
  case 2: return x * 2;
  case 4: return ~x;
  case 5:
  case 6: return x - 9;
  default: return 0;
  }
}
int sparse(int x) {
  switch (x) {
  case -100: return 1;
  case 3: return 2;
  case 7: return x * x;
  case 2147483647: return 4;
  case -2147483647 - 1: return 5;
  case 100: return 6;
  case 0: return 8;
  default: return x / 3;
  }
}
int machine(const signed char *b, int n) {
  int state = 0, i = 0;
start:
  if (i >= (n & 15)) goto done;
  if (b[i] < 0) goto negative;
  state = state * 3 + b[i++];
  goto start;
negative:
  state ^= b[i++];
  if (state & 1) goto start;
  state += 100;
  goto start;
done:
  return state;
}
void sort(int *a) {
  for (int i = 0; i < 16; i++)
    for (int j = i; j > 0 && a[j - 1] > a[j]; j--) {
      int t = a[j];
      a[j] = a[j - 1], a[j - 1] = t;
    }
}
void multiply(int *a, const int *c) {
  for (int i = 0; i < 4; i++)
    for (int j = 0; j < 4; j++) {
      int sum = 0;
      for (int k = 0; k < 4; k++) sum += c[4 * i + k] * c[4 * k + j];
      a[4 * i + j] = sum;
    }
}
int search(const int *a, int x) {
  int low = 0, high = 16;
  while (low < high) {
    int middle = (low + high) / 2;
    if (a[middle] < x) low = middle + 1; else high = middle;
  }
  return low;
}
static inline int square(int x) { return x * x; }
int inlined(int x) { return square(x & 0xff) + square(x >> 24); }
static __attribute__((noinline)) int outlined(const int *a, int x) {
  int b[4] = {x, x + 1, x + 2, x + 3};
  for (int i = 0; i < 4; i++) b[i] ^= a[i];
  return b[x & 3];
}
int called(const int *a, int x) { return search(a, x) + outlined(a, x & 0xff) * inlined(outlined(a, 1)); }
u32 cyclic(const signed char *b) {
  u32 crc = ~0u;
  for (int i = 0; i < 16; i++) {
    crc ^= (unsigned char)b[i];
    for (int k = 0; k < 8; k++) crc = crc >> 1 ^ (0xedb88320u & -(crc & 1));
  }
  return ~crc;
}
int many(int a, int b, i64 c, int d, i64 e, int f, int g, i64 h, int i, i64 j, int k, short l) { return (int)(a - b + c * d - e + f * g - h + i * j - k + l); }
int pressure(const int *a, int n) {
  int x[16], s = 0;
  for (int i = 0; i < 16; i++) x[i] = a[i] * (i + n);
  int a0 = x[0], a1 = x[1], a2 = x[2], a3 = x[3], a4 = x[4], a5 = x[5], a6 = x[6], a7 = x[7], a8 = x[8], a9 = x[9], b0 = x[10], b1 = x[11], b2 = x[12], b3 = x[13], b4 = x[14], b5 = x[15];
  int c0 = a[0], c1 = a[1], c2 = a[2], c3 = a[3], c4 = a[4], c5 = a[5], c6 = a[6], c7 = a[7], c8 = a[8], c9 = a[9], d0 = a[10], d1 = a[11], d2 = a[12], d3 = a[13], d4 = a[14], d5 = a[15];
  for (int k = 0; k < (n & 3) + 2; k++) {
    s += a0 * c0 + a1 * c1 + a2 * c2 + a3 * c3 + a4 * c4 + a5 * c5 + a6 * c6 + a7 * c7 + a8 * c8 + a9 * c9 + b0 * d0 + b1 * d1 + b2 * d2 + b3 * d3 + b4 * d4 + b5 * d5;
    a0 += c1, a1 ^= c2, a2 -= c3, a3 += c4, a4 ^= c5, a5 += c6, a6 -= c7, a7 += c8, a8 ^= c9, a9 += d0, b0 -= d1, b1 += d2, b2 ^= d3, b3 += d4, b4 -= d5, b5 += c0;
    c0 += s, c1 -= k, c2 ^= s, c3 += k, c4 -= s, c5 += k, c6 ^= s, c7 += k, c8 -= s, c9 += k, d0 ^= s, d1 += k, d2 -= s, d3 += k, d4 ^= s, d5 += k;
  }
  return s;
}
int large_frame(int n, int k) {
  int t[1500];
  for (int i = 0; i < 1500; i++) t[i] = i * n;
  return t[k & 1023] + t[1499];
}

/* Memory. */
int structures(struct part *part, int k) {
  struct part copy = part[k & 1];
  copy.pair[k & 1] += 3, copy.value *= 2;
  part[1] = copy;
  part->tag = (signed char)k;
  return copy.pair[0] + copy.pair[1] + part[1].value;
}
i64 packed(signed char *b, int k) {
  struct tight t;
  memcpy(&t, b, 9);
  t.wide = (i64)t.value * k, t.real = 0.5f;
  memcpy(b, (char *)&t + 1, 12);
  return t.wide + ((struct tight *)b)->value;
}
int globals(int k) {
  counter += table[k & 7];
  return counter * 2;
}
static const signed char constant_bytes[5] = {-1, 2, -128, 127, 5};
static const unsigned char constant_octets[3] = {255, 128, 3};
static const short constant_halves[2][3] = {{-30000, 7, 1}, {2, -3, 4}};
static const unsigned short constant_ports[2] = {65535, 9};
static const u32 constant_words[3] = {4000000000u, 1, 7};
static const i64 constant_longs[2] = {1ll << 40, -5};
static const u64 constant_wide[2] = {~0ull, 3};
static const _Bool constant_truths[2] = {1, 0};
static const float constant_singles[4] = {0.25f, -1.5f, 3.0f, 1e-3f};
static const double constant_doubles[3] = {0.1, -2.5, 1e9};
static const struct part constant_parts[2] = {{1, {2, 3}, 4}, {-5, {-6, -7}, 8}};
const short constant_half = -7;
static const u64 constant_long = 1ull << 63 | 5;
i64 constant_tables(u32 k) {
  return constant_bytes[k % 5] + constant_octets[k % 3] + constant_halves[k & 1][k % 3] + constant_ports[k & 1] + constant_words[k % 3] + constant_longs[k & 1] + (i64)constant_wide[k & 1] + constant_truths[k & 1] +
         constant_parts[k & 1].pair[1] + constant_parts[k & 1].tag + (i64)(constant_half * constant_long);
}
double constant_floats(u32 k) { return constant_singles[k & 3] + constant_doubles[k % 3] * 0.5; }
void bulk(signed char *b, int n) {
  signed char t[16];
  memset(t, n, 16);
  memcpy(t + 3, b, (u32)n & 7);
  memmove(b + 2, b, (u32)n & 7);
  memmove(b, b + 1, (u32)n & 7);
  b[15] = t[4];
}
int words(signed char *b, short *h, i64 *w, const int *a) {
  b[1] = (signed char)(b[2] + (unsigned char)b[3]), h[2] = (short)(h[3] * (unsigned short)h[4]), w[5] = w[6] + (u32)a[7];
  return (int)w[1] + b[4] + h[5];
}
int volatiles(volatile int *a) {
  a[0];
  a[1] = a[2] + a[2];
  return a[1];
}
int atomics(int *a, int k) {
  _Atomic int *p = (_Atomic int *)a;
  atomic_store_explicit(p, k, memory_order_release);
  atomic_thread_fence(memory_order_acq_rel);
  atomic_store(p + 1, k + 1);
  atomic_thread_fence(memory_order_seq_cst);
  return atomic_load_explicit(p + 2, memory_order_acquire) + atomic_load(p + 3) + atomic_load_explicit(p, memory_order_relaxed);
}

/* Floats. */
float single(float x, float y) { return (x + y * 3.5f - 0.1f) / (x * x + 1.0f) - -y; }
double wide(double x, double y) { return (x - y * 3.5 + 0.1) / (x * x + 1.0) + fabs(y) - copysign(x, y); }
double roots(double x, float y) { return sqrt(fabs(x)) + (double)sqrtf(fabsf(y)); }
int float_comparisons(float x, float y) { return (x < y) + 2 * (x <= y) + 4 * (x == y) + 8 * (x != y) + 16 * (x > y) + 32 * (x >= y) + 64 * !(x < y) + 128 * isunordered(x, y) + 256 * islessgreater(x, y); }
int double_comparisons(double x, double y) { return x < y ? 1 : x > y ? 2 : x == y ? 3 : x != x ? 4 : 5; }
double extended(float x, int y, u32 z, i64 v, u64 w) { return (double)x + (double)y * 0.5 - (double)z + (double)v * 1e-3 + (double)w * 1e-6; }
float rounded(double x, int y, u32 z, i64 v, u64 w) { return (float)x + (float)y * 0.5f - (float)z + (float)v * 1e-3f + (float)w * 1e-6f; }
int truncated(double x, float y) {
  int r = x > -2e9 && x < 2e9 ? (int)x : 1;
  u32 u = y >= 0 && y < 4e9f ? (u32)y : 2u;
  short h = x > -30000 && x < 30000 ? (short)x : 3;
  return r + (int)u * 3 + h;
}
i64 long_truncated(double x, float y) { return (x > -9e18 && x < 9e18 ? (i64)x : 1) ^ (i64)(y >= 0 && y < 1.8e19f ? (u64)y : 2u) ^ (y > -1e9f && y < 1e9f ? (i64)y : 3); }
float nearest(float x, float y) { return fmaxf(x, y) * 2 - fminf(x, 1.0f); }
u64 patterns(double x, float y) {
  u64 a;
  u32 b;
  memcpy(&a, &x, 8), memcpy(&b, &y, 4);
  return x == x && y == y ? a ^ b : 1;
}
double from_patterns(u64 a, u32 b) {
  double x;
  float y;
  a &= 0x7fefffffffffffff, b &= 0x7f7fffff;
  memcpy(&x, &a, 8), memcpy(&y, &b, 4);
  return x * 0.5 + y;
}
double horner(const double *d, double x) {
  double sum = 0;
  for (int i = 0; i < 16; i++) sum = sum * x + d[i];
  return sum;
}
float mean(const float *f, int n) {
  float sum = 0, most = f[0];
  for (int i = 0; i < (n & 15) + 1; i++) {
    sum += f[i];
    most = f[i] > most ? f[i] : most;
  }
  return sum / (float)((n & 15) + 1) + most;
}
void smooth(double *d, const float *f) {
  for (int i = 1; i < 15; i++) d[i] = (d[i - 1] + 2 * d[i] + d[i + 1]) * 0.25 + f[i];
}
double many_floats(double a, float b, double c, float d, double e, float f, double g, float h, double i, float j, int k, double l) { return a - b + c * d - e + f * g - h + i * j - k + l; }
double newton(double x) {
  x = fabs(x) < 1e150 ? fabs(x) + 1 : 2;
  double y = x;
  for (int i = 0; i < 20; i++) y = 0.5 * (y + x / y);
  return y;
}

/* A loop that is entered at each of its four blocks. */
int entered_anywhere(int n, int x) {
  int s = 0;
  switch (n & 3) {
    do {
    case 0: s += x;
    case 3: s ^= x << 1;
    case 2: s -= 3;
    case 1: s *= 5;
    } while ((n -= 4) > 0 && n < 40);
  }
  return s;
}
