/* SPDX-License-Identifier: Apache-2.0 */
/* What members of the belt family lack, in integers: division, and IEEE 754 arithmetic rounded to nearest even.

   A finite number that is not 0 is (-1)^sign * m * 2^(e - 62) with m in [2^62, 2^63); the lowest bit of m is set where
   digits below it were lost, so that rounding knows. Formats differ in the bits of their fraction, f: 23 or 52.

   Singles have routines of 32 bits, with m in [2^30, 2^31) and digits down to 2^(e - 30). All are in parts that stay
   calls, each with few values, because the smallest member has little scratch. */
typedef unsigned long long u64;
typedef long long i64;
typedef unsigned int u32;

#define PART __attribute__((noinline))

static int top(int f) { return f == 23 ? 255 : 2047; }
static u64 nan(int f) { return f == 23 ? 0x7fc00000u : 0x7ff8000000000000u; }
static u64 sign(u64 a, int f) { return a >> (f == 23 ? 31 : 63) & 1; }
static u64 signed_(u64 s, u64 a, int f) { return a | s << (f == 23 ? 31 : 63); }
static u64 size(u64 a, int f) { return f == 23 ? a & 0x7fffffffu : a & 0x7fffffffffffffffu; }
static u64 infinity(int f) { return (u64)top(f) << f; }
static int is_nan(u64 a, int f) { return size(a, f) > infinity(f); }
static int is_infinite(u64 a, int f) { return size(a, f) == infinity(f); }

static u64 lost(u64 m, int by) { return by <= 0 ? m : by > 63 ? m != 0 : m >> by | ((m << (64 - by)) != 0); }
static int leading(u64 m) { return __builtin_clzll(m); }
PART u64 emulated_64_mantissa(u64 a, int f) {
  u64 m = a & (((u64)1 << f) - 1);
  if (size(a, f) >> f) return (m | (u64)1 << f) << (62 - f);
  return m << (leading(m) - 1);
}
PART int emulated_64_exponent(u64 a, int f) {
  int e = (int)(size(a, f) >> f);
  return e ? e - (top(f) >> 1) : 1 - (top(f) >> 1) - (leading(a & (((u64)1 << f) - 1)) - (63 - f));
}
PART u64 emulated_64_rounded(u64 s, int e, u64 m, int f) {
  int shift = 62 - f, biased = e + (top(f) >> 1);
  if (biased >= top(f)) return signed_(s, infinity(f), f);
  if (biased <= 0) m = lost(m, 1 - biased), biased = 1;
  u64 kept = m >> shift, rest = m & (((u64)1 << shift) - 1), half = (u64)1 << (shift - 1);
  kept += rest > half || (rest == half && (kept & 1));
  return signed_(s, (kept >> f ? ((u64)(biased - 1) << f) : 0) + kept, f);
}
PART u64 emulated_64_normal(u64 s, int e, u64 m, int f) {
  if (m == 0) return signed_(s, 0, f);
  int by = leading(m) - 1;
  return by < 0 ? emulated_64_rounded(s, e + 1, lost(m, 1), f) : emulated_64_rounded(s, e - by, m << by, f);
}

/* Of finite numbers that are not 0, the first at least as large as the second. */
PART u64 emulated_64_sum(u64 a, u64 b, int f) {
  int e = emulated_64_exponent(a, f);
  u64 n = lost(emulated_64_mantissa(b, f), e - emulated_64_exponent(b, f));
  u64 m = emulated_64_mantissa(a, f) + (sign(a, f) != sign(b, f) ? -n : n);
  return m == 0 ? 0 : emulated_64_normal(sign(a, f), e, m, f);
}
static u64 sum(u64 a, u64 b, int f) {
  if (is_nan(a, f) || is_nan(b, f)) return nan(f);
  u64 s = sign(a, f), t = sign(b, f);
  if (is_infinite(a, f)) return is_infinite(b, f) && s != t ? nan(f) : a;
  if (is_infinite(b, f)) return b;
  if (size(a, f) == 0) return size(b, f) == 0 ? signed_(s & t, 0, f) : b;
  if (size(b, f) == 0) return a;
  return size(a, f) < size(b, f) ? emulated_64_sum(b, a, f) : emulated_64_sum(a, b, f);
}
/* The product of mantissas, shifted right by 62 bits. */
PART u64 emulated_64_high(u32 mh, u32 ml, u32 nh, u32 nl) {
  u64 low = (u64)ml * nl, one = (u64)mh * nl + (low >> 32), two = (u64)ml * nh + (u32)one;
  u64 high = (u64)mh * nh + (one >> 32) + (two >> 32);
  return high << 2 | (u32)two >> 30 | (((u32)two << 2 | (u32)low) != 0);
}
static u64 product(u64 a, u64 b, int f) {
  u64 s = sign(a, f) ^ sign(b, f);
  if (is_nan(a, f) || is_nan(b, f)) return nan(f);
  if (is_infinite(a, f) || is_infinite(b, f)) return size(a, f) == 0 || size(b, f) == 0 ? nan(f) : signed_(s, infinity(f), f);
  if (size(a, f) == 0 || size(b, f) == 0) return signed_(s, 0, f);
  u64 m = emulated_64_mantissa(a, f), n = emulated_64_mantissa(b, f);
  m = emulated_64_high((u32)(m >> 32), (u32)m, (u32)(n >> 32), (u32)n);
  return emulated_64_normal(s, emulated_64_exponent(a, f) + emulated_64_exponent(b, f), m, f);
}
PART u64 emulated_64_digits(u64 m, u64 n) {
  u64 q = 0;
  for (int k = 0; k < 63; k++) {
    u64 fits = m >= n;
    q = q << 1 | fits;
    m = (m - (fits ? n : 0)) << 1;
  }
  return q | (m != 0);
}
static u64 quotient(u64 a, u64 b, int f) {
  u64 s = sign(a, f) ^ sign(b, f);
  if (is_nan(a, f) || is_nan(b, f)) return nan(f);
  if (is_infinite(a, f)) return is_infinite(b, f) ? nan(f) : signed_(s, infinity(f), f);
  if (is_infinite(b, f)) return signed_(s, 0, f);
  if (size(b, f) == 0) return size(a, f) == 0 ? nan(f) : signed_(s, infinity(f), f);
  if (size(a, f) == 0) return signed_(s, 0, f);
  u64 q = emulated_64_digits(emulated_64_mantissa(a, f), emulated_64_mantissa(b, f));
  return emulated_64_normal(s, emulated_64_exponent(a, f) - emulated_64_exponent(b, f), q, f);
}
/* Two digits at a time of a number in [1, 4) with 62 digits, then zeros. */
PART u64 emulated_64_root(u64 digits) {
  u64 q = 0, rest = 0;
  for (int k = 0; k < 60; k++) {
    u64 next = digits >> 62, try = q << 2 | 1;
    rest = rest << 2 | next;
    digits <<= 2;
    u64 fits = rest >= try;
    rest -= fits ? try : 0;
    q = q << 1 | fits;
  }
  return q << 3 | (rest != 0);
}
static u64 root(u64 a, int f) {
  if (is_nan(a, f)) return nan(f);
  if (size(a, f) == 0) return a;
  if (sign(a, f)) return nan(f);
  if (is_infinite(a, f)) return a;
  int e = emulated_64_exponent(a, f), odd = e & 1;
  return emulated_64_normal(0, (e - odd) / 2, emulated_64_root(emulated_64_mantissa(a, f) << odd), f);
}
static int same(u64 a, u64 b, int f) { return !is_nan(a, f) && !is_nan(b, f) && (a == b || (size(a, f) | size(b, f)) == 0); }
static int below(u64 a, u64 b, int f) {
  if (is_nan(a, f) || is_nan(b, f) || (size(a, f) | size(b, f)) == 0) return 0;
  u64 s = sign(a, f), t = sign(b, f);
  return s != t ? s > t : s ? a > b : a < b;
}
static u64 from(u64 s, u64 m, int f) { return m == 0 ? 0 : emulated_64_normal(s, 62, m, f); }
static u64 whole(u64 a, int f) {
  int e = emulated_64_exponent(a, f);
  u64 m = emulated_64_mantissa(a, f);
  return e < 0 || size(a, f) == 0 ? 0 : e <= 62 ? m >> (62 - e) : m << (e - 62);
}

u64 emulated_f64_add(u64 a, u64 b) { return sum(a, b, 52); }
u64 emulated_f64_sub(u64 a, u64 b) { return sum(a, b ^ 0x8000000000000000u, 52); }
u64 emulated_f64_mul(u64 a, u64 b) { return product(a, b, 52); }
u64 emulated_f64_div(u64 a, u64 b) { return quotient(a, b, 52); }
u64 emulated_f64_sqrt(u64 a) { return root(a, 52); }
u32 emulated_f64_eq(u64 a, u64 b) { return same(a, b, 52); }
u32 emulated_f64_lt(u64 a, u64 b) { return below(a, b, 52); }
u32 emulated_f64_le(u64 a, u64 b) { return below(a, b, 52) | same(a, b, 52); }
u32 emulated_f64_uno(u64 a, u64 b) { return is_nan(a, 52) | is_nan(b, 52); }
u64 emulated_f64_min(u64 a, u64 b) { return is_nan(b, 52) || below(a, b, 52) ? (is_nan(a, 52) ? b : a) : b; }
u64 emulated_f64_max(u64 a, u64 b) { return is_nan(b, 52) || below(b, a, 52) ? (is_nan(a, 52) ? b : a) : b; }
u64 emulated_f32_f64(u32 a) {
  u64 s = sign(a, 23);
  if (is_nan(a, 23)) return nan(52);
  if (is_infinite(a, 23)) return signed_(s, infinity(52), 52);
  return size(a, 23) == 0 ? signed_(s, 0, 52) : emulated_64_rounded(s, emulated_64_exponent(a, 23), emulated_64_mantissa(a, 23), 52);
}
u32 emulated_f64_f32(u64 a) {
  u64 s = sign(a, 52);
  if (is_nan(a, 52)) return (u32)nan(23);
  if (is_infinite(a, 52)) return (u32)signed_(s, infinity(23), 23);
  return (u32)(size(a, 52) == 0 ? signed_(s, 0, 23) : emulated_64_rounded(s, emulated_64_exponent(a, 52), emulated_64_mantissa(a, 52), 23));
}
u32 emulated_i64_f32(i64 a) { return (u32)from(a < 0, a < 0 ? -(u64)a : (u64)a, 23); }
u64 emulated_i64_f64(i64 a) { return from(a < 0, a < 0 ? -(u64)a : (u64)a, 52); }
u32 emulated_u64_f32(u64 a) { return (u32)from(0, a, 23); }
u64 emulated_u64_f64(u64 a) { return from(0, a, 52); }
u64 emulated_f32_i64(u32 a) { return sign(a, 23) ? -whole(a, 23) : whole(a, 23); }
u64 emulated_f64_i64(u64 a) { return sign(a, 52) ? -whole(a, 52) : whole(a, 52); }

enum { SIZE = 0x7fffffff, SIGN = 0x80000000u, INFINITE = 0x7f800000, NAN = 0x7fc00000 };

static u32 lost32(u32 m, int by) { return by <= 0 ? m : by > 31 ? m != 0 : m >> by | ((m << (32 - by)) != 0); }
PART u32 emulated_f32_rounded(u32 s, int e, u32 m) {
  int biased = e + 127;
  if (biased >= 255) return s | INFINITE;
  m = lost32(m, 1 - biased);
  biased = biased < 1 ? 1 : biased;
  u32 kept = m >> 7, rest = m & 127;
  kept += rest + (kept & 1) > 64;
  return s | ((kept >> 23 ? (u32)(biased - 1) << 23 : 0) + kept);
}
PART u32 emulated_f32_normal(u32 s, int e, u32 m) {
  if (m == 0) return s;
  int by = __builtin_clz(m) - 1;
  return by < 0 ? emulated_f32_rounded(s, e + 1, m >> 1 | (m & 1)) : emulated_f32_rounded(s, e - by, m << by);
}
PART u32 emulated_f32_mantissa(u32 a) {
  u32 m = a & 0x7fffff;
  return (a & SIZE) >> 23 ? (m | 0x800000) << 7 : m << (__builtin_clz(m | 1) - 1);
}
PART int emulated_f32_exponent(u32 a) {
  int e = (int)((a & SIZE) >> 23);
  return e ? e - 127 : -118 - __builtin_clz((a & 0x7fffff) | 1);
}
/* Of finite numbers that are not 0, the first at least as large as the second. */
PART u32 emulated_f32_sum(u32 a, u32 b) {
  int e = emulated_f32_exponent(a);
  u32 n = lost32(emulated_f32_mantissa(b), e - emulated_f32_exponent(b));
  u32 m = emulated_f32_mantissa(a) + ((a ^ b) & SIGN ? -n : n);
  return m == 0 ? 0 : emulated_f32_normal(a & SIGN, e, m);
}
u32 emulated_f32_add(u32 a, u32 b) {
  u32 x = a & SIZE, y = b & SIZE;
  if (x > INFINITE || y > INFINITE || (x == INFINITE && (a ^ b) == SIGN)) return NAN;
  if (x == INFINITE) return a;
  if (y == INFINITE) return b;
  if (y == 0) return x == 0 ? a & b : a;
  if (x == 0) return b;
  return x >= y ? emulated_f32_sum(a, b) : emulated_f32_sum(b, a);
}
u32 emulated_f32_sub(u32 a, u32 b) { return emulated_f32_add(a, b ^ SIGN); }
/* Of finite numbers that are not 0. */
PART u32 emulated_f32_product(u32 a, u32 b) {
  u64 p = (u64)(emulated_f32_mantissa(a) >> 7) * (emulated_f32_mantissa(b) >> 7);
  u32 m = (u32)(p >> 17) | (((u32)p & 0x1ffff) != 0);
  return emulated_f32_normal((a ^ b) & SIGN, emulated_f32_exponent(a) + emulated_f32_exponent(b) + 1, m);
}
u32 emulated_f32_mul(u32 a, u32 b) {
  u32 x = a & SIZE, y = b & SIZE, s = (a ^ b) & SIGN, most = x > y ? x : y, least = x > y ? y : x;
  if (most >= INFINITE) return most > INFINITE || least == 0 ? NAN : s | INFINITE;
  return least == 0 ? s : emulated_f32_product(a, b);
}
PART u32 emulated_f32_digits(u32 m, u32 n) {
  u32 q = 0;
  for (int k = 0; k < 31; k++) {
    u32 fits = m >= n;
    q = q << 1 | fits;
    m = (m - (fits ? n : 0)) << 1;
  }
  return q | (m != 0);
}
PART u32 emulated_f32_quotient(u32 a, u32 b) {
  u32 q = emulated_f32_digits(emulated_f32_mantissa(a), emulated_f32_mantissa(b));
  return emulated_f32_normal((a ^ b) & SIGN, emulated_f32_exponent(a) - emulated_f32_exponent(b), q);
}
u32 emulated_f32_div(u32 a, u32 b) {
  u32 x = a & SIZE, y = b & SIZE, s = (a ^ b) & SIGN;
  if (x > INFINITE || y > INFINITE || (x == y && (x == 0 || x == INFINITE))) return NAN;
  if (x == INFINITE || y == 0) return s | INFINITE;
  return y == INFINITE || x == 0 ? s : emulated_f32_quotient(a, b);
}
PART u32 emulated_f32_root(u32 digits) {
  u32 q = 0, rest = 0;
  for (int k = 0; k < 27; k++) {
    u32 try = q << 2 | 1;
    rest = rest << 2 | digits >> 30;
    digits <<= 2;
    u32 fits = rest >= try;
    rest -= fits ? try : 0;
    q = q << 1 | fits;
  }
  return q << 4 | (rest != 0);
}
u32 emulated_f32_sqrt(u32 a) {
  if ((a & SIZE) == 0 || a == INFINITE) return a;
  if (a > INFINITE) return NAN;
  int e = emulated_f32_exponent(a), odd = e & 1;
  return emulated_f32_normal(0, (e - odd) / 2, emulated_f32_root(emulated_f32_mantissa(a) << odd));
}
static int nan32(u32 a) { return (a & SIZE) > INFINITE; }
static int order32(u32 a) { return a & SIGN ? -(int)(a & SIZE) : (int)a; }
u32 emulated_f32_uno(u32 a, u32 b) { return nan32(a) | nan32(b); }
u32 emulated_f32_eq(u32 a, u32 b) { return !(nan32(a) | nan32(b)) & (order32(a) == order32(b)); }
u32 emulated_f32_lt(u32 a, u32 b) { return !(nan32(a) | nan32(b)) & (order32(a) < order32(b)); }
u32 emulated_f32_le(u32 a, u32 b) { return !(nan32(a) | nan32(b)) & (order32(a) <= order32(b)); }
u32 emulated_f32_min(u32 a, u32 b) { return nan32(a) ? b : (nan32(b) | (order32(a) < order32(b))) ? a : b; }
u32 emulated_f32_max(u32 a, u32 b) { return nan32(a) ? b : (nan32(b) | (order32(a) > order32(b))) ? a : b; }
u32 emulated_i32_f32(u32 a) { return emulated_f32_normal(a & SIGN, 30, a & SIGN ? -a : a); }
u32 emulated_u32_f32(u32 a) { return emulated_f32_normal(0, 30, a); }
u32 emulated_f32_i32(u32 a) {
  int e = emulated_f32_exponent(a);
  u32 m = emulated_f32_mantissa(a), w = e < 0 || (a & SIZE) == 0 ? 0 : e <= 30 ? m >> (30 - e) : m << (e - 30);
  return a & SIGN ? -w : w;
}

static u64 ratio(u64 a, u64 b, int bits, int remainder) {
  u64 q = 0, r = 0;
  for (int k = 0; k < bits; k++) {
    u64 carry = r >> 63;
    r = r << 1 | (a >> (bits - 1) & 1);
    a <<= 1;
    u64 fits = carry | (r >= b);
    r -= fits ? b : 0;
    q = q << 1 | fits;
  }
  return remainder ? r : q;
}
static u32 ratio32(u32 a, u32 b, int remainder) {
  u32 q = 0, r = 0;
  for (int k = 0; k < 32; k++) {
    u32 carry = r >> 31;
    r = r << 1 | a >> 31;
    a <<= 1;
    u32 fits = carry | (r >= b);
    r -= fits ? b : 0;
    q = q << 1 | fits;
  }
  return remainder ? r : q;
}
u32 emulated_udiv32(u32 a, u32 b) { return ratio32(a, b, 0); }
u32 emulated_urem32(u32 a, u32 b) { return ratio32(a, b, 1); }
u64 emulated_udiv64(u64 a, u64 b) { return ratio(a, b, 64, 0); }
u64 emulated_urem64(u64 a, u64 b) { return ratio(a, b, 64, 1); }
u32 emulated_sdiv32(u32 a, u32 b) {
  u32 s = a >> 31, t = b >> 31, q = ratio32(s ? -a : a, t ? -b : b, 0);
  return s != t ? -q : q;
}
u32 emulated_srem32(u32 a, u32 b) {
  u32 s = a >> 31, r = ratio32(s ? -a : a, b >> 31 ? -b : b, 1);
  return s ? -r : r;
}
u64 emulated_sdiv64(u64 a, u64 b) {
  u64 s = a >> 63, t = b >> 63, q = ratio(s ? -a : a, t ? -b : b, 64, 0);
  return s != t ? -q : q;
}
u64 emulated_srem64(u64 a, u64 b) {
  u64 s = a >> 63, r = ratio(s ? -a : a, b >> 63 ? -b : b, 64, 1);
  return s ? -r : r;
}
