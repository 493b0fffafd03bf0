/* SPDX-License-Identifier: Apache-2.0 */
/* What members of the belt family lack, in integers: division, and IEEE 754 arithmetic rounded to nearest even.

   A finite number that is not 0 is (-1)^sign * m * 2^(e - 62) with m in [2^62, 2^63); the lowest bit of m is set where
   digits below it were lost, so that rounding knows. Formats differ in the bits of their fraction, f: 23 or 52. */
typedef unsigned long long u64;
typedef long long i64;
typedef unsigned int u32;

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
static u64 mantissa(u64 a, int f) {
  u64 m = a & (((u64)1 << f) - 1);
  if (size(a, f) >> f) return (m | (u64)1 << f) << (62 - f);
  return m << (leading(m) - 1);
}
static int exponent(u64 a, int f) {
  int e = (int)(size(a, f) >> f);
  return e ? e - (top(f) >> 1) : 1 - (top(f) >> 1) - (leading(a & (((u64)1 << f) - 1)) - (63 - f));
}
static u64 rounded(u64 s, int e, u64 m, int f) {
  int shift = 62 - f, biased = e + (top(f) >> 1);
  if (biased >= top(f)) return signed_(s, infinity(f), f);
  if (biased <= 0) m = lost(m, 1 - biased), biased = 1;
  u64 kept = m >> shift, rest = m & (((u64)1 << shift) - 1), half = (u64)1 << (shift - 1);
  kept += rest > half || (rest == half && (kept & 1));
  return signed_(s, (kept >> f ? ((u64)(biased - 1) << f) : 0) + kept, f);
}
static u64 normal(u64 s, int e, u64 m, int f) {
  if (m == 0) return signed_(s, 0, f);
  int by = leading(m) - 1;
  return by < 0 ? rounded(s, e + 1, lost(m, 1), f) : rounded(s, e - by, m << by, f);
}

static u64 sum(u64 a, u64 b, int f) {
  if (is_nan(a, f) || is_nan(b, f)) return nan(f);
  u64 s = sign(a, f), t = sign(b, f);
  if (is_infinite(a, f)) return is_infinite(b, f) && s != t ? nan(f) : a;
  if (is_infinite(b, f)) return b;
  if (size(a, f) == 0) return size(b, f) == 0 ? signed_(s & t, 0, f) : b;
  if (size(b, f) == 0) return a;
  if (size(a, f) < size(b, f)) {
    u64 c = a;
    a = b, b = c, c = s, s = t, t = c;
  }
  int e = exponent(a, f), by = e - exponent(b, f);
  u64 m = mantissa(a, f), n = lost(mantissa(b, f), by);
  if (s == t) return normal(s, e, m + n, f);
  return m == n ? 0 : normal(s, e, m - n, f);
}
static u64 product(u64 a, u64 b, int f) {
  u64 s = sign(a, f) ^ sign(b, f);
  if (is_nan(a, f) || is_nan(b, f)) return nan(f);
  if (is_infinite(a, f) || is_infinite(b, f)) return size(a, f) == 0 || size(b, f) == 0 ? nan(f) : signed_(s, infinity(f), f);
  if (size(a, f) == 0 || size(b, f) == 0) return signed_(s, 0, f);
  u64 m = mantissa(a, f), n = mantissa(b, f);
  u64 ml = (u32)m, mh = m >> 32, nl = (u32)n, nh = n >> 32;
  u64 low = ml * nl, one = mh * nl + (low >> 32), two = ml * nh + (u32)one;
  u64 high = mh * nh + (one >> 32) + (two >> 32);
  low = two << 32 | (u32)low;
  return normal(s, exponent(a, f) + exponent(b, f), high << 2 | low >> 62 | ((low << 2) != 0), f);
}
static u64 quotient(u64 a, u64 b, int f) {
  u64 s = sign(a, f) ^ sign(b, f);
  if (is_nan(a, f) || is_nan(b, f)) return nan(f);
  if (is_infinite(a, f)) return is_infinite(b, f) ? nan(f) : signed_(s, infinity(f), f);
  if (is_infinite(b, f)) return signed_(s, 0, f);
  if (size(b, f) == 0) return size(a, f) == 0 ? nan(f) : signed_(s, infinity(f), f);
  if (size(a, f) == 0) return signed_(s, 0, f);
  u64 m = mantissa(a, f), n = mantissa(b, f), q = 0;
  for (int k = 0; k < 63; k++) {
    u64 fits = m >= n;
    q = q << 1 | fits;
    m = (m - (fits ? n : 0)) << 1;
  }
  return normal(s, exponent(a, f) - exponent(b, f), q | (m != 0), f);
}
static u64 root(u64 a, int f) {
  if (is_nan(a, f)) return nan(f);
  if (size(a, f) == 0) return a;
  if (sign(a, f)) return nan(f);
  if (is_infinite(a, f)) return a;
  int e = exponent(a, f);
  u64 m = mantissa(a, f), rest = 0, q = 0;
  int odd = e & 1;
  /* Two digits of m * 2^odd at a time, m as a number in [1, 2) with 62 digits, then zeros. */
  u64 digits = odd ? m << 1 : m;
  for (int k = 0; k < 60; k++) {
    u64 next = k < 32 ? digits >> (62 - 2 * k) & 3 : 0;
    u64 try = q << 2 | 1;
    rest = rest << 2 | next;
    u64 fits = rest >= try;
    rest -= fits ? try : 0;
    q = q << 1 | fits;
  }
  return normal(0, (e - odd) / 2, q << 3 | (rest != 0), f);
}
static int same(u64 a, u64 b, int f) { return !is_nan(a, f) && !is_nan(b, f) && (a == b || (size(a, f) | size(b, f)) == 0); }
static int below(u64 a, u64 b, int f) {
  if (is_nan(a, f) || is_nan(b, f) || (size(a, f) | size(b, f)) == 0) return 0;
  u64 s = sign(a, f), t = sign(b, f);
  return s != t ? s > t : s ? a > b : a < b;
}
static u64 from(u64 s, u64 m, int f) { return m == 0 ? 0 : normal(s, 62, m, f); }
static u64 whole(u64 a, int f) {
  int e = exponent(a, f);
  u64 m = mantissa(a, f);
  return e < 0 || size(a, f) == 0 ? 0 : e <= 62 ? m >> (62 - e) : m << (e - 62);
}

u32 emulated_f32_add(u32 a, u32 b) { return (u32)sum(a, b, 23); }
u64 emulated_f64_add(u64 a, u64 b) { return sum(a, b, 52); }
u32 emulated_f32_sub(u32 a, u32 b) { return (u32)sum(a, b ^ 0x80000000u, 23); }
u64 emulated_f64_sub(u64 a, u64 b) { return sum(a, b ^ 0x8000000000000000u, 52); }
u32 emulated_f32_mul(u32 a, u32 b) { return (u32)product(a, b, 23); }
u64 emulated_f64_mul(u64 a, u64 b) { return product(a, b, 52); }
u32 emulated_f32_div(u32 a, u32 b) { return (u32)quotient(a, b, 23); }
u64 emulated_f64_div(u64 a, u64 b) { return quotient(a, b, 52); }
u32 emulated_f32_sqrt(u32 a) { return (u32)root(a, 23); }
u64 emulated_f64_sqrt(u64 a) { return root(a, 52); }
u32 emulated_f32_eq(u32 a, u32 b) { return same(a, b, 23); }
u32 emulated_f64_eq(u64 a, u64 b) { return same(a, b, 52); }
u32 emulated_f32_lt(u32 a, u32 b) { return below(a, b, 23); }
u32 emulated_f64_lt(u64 a, u64 b) { return below(a, b, 52); }
u32 emulated_f32_le(u32 a, u32 b) { return below(a, b, 23) | same(a, b, 23); }
u32 emulated_f64_le(u64 a, u64 b) { return below(a, b, 52) | same(a, b, 52); }
u32 emulated_f32_uno(u32 a, u32 b) { return is_nan(a, 23) | is_nan(b, 23); }
u32 emulated_f64_uno(u64 a, u64 b) { return is_nan(a, 52) | is_nan(b, 52); }
u32 emulated_f32_min(u32 a, u32 b) { return is_nan(b, 23) || below(a, b, 23) ? (is_nan(a, 23) ? b : a) : b; }
u64 emulated_f64_min(u64 a, u64 b) { return is_nan(b, 52) || below(a, b, 52) ? (is_nan(a, 52) ? b : a) : b; }
u32 emulated_f32_max(u32 a, u32 b) { return is_nan(b, 23) || below(b, a, 23) ? (is_nan(a, 23) ? b : a) : b; }
u64 emulated_f64_max(u64 a, u64 b) { return is_nan(b, 52) || below(b, a, 52) ? (is_nan(a, 52) ? b : a) : b; }
u64 emulated_f32_f64(u32 a) {
  u64 s = sign(a, 23);
  if (is_nan(a, 23)) return nan(52);
  if (is_infinite(a, 23)) return signed_(s, infinity(52), 52);
  return size(a, 23) == 0 ? signed_(s, 0, 52) : rounded(s, exponent(a, 23), mantissa(a, 23), 52);
}
u32 emulated_f64_f32(u64 a) {
  u64 s = sign(a, 52);
  if (is_nan(a, 52)) return (u32)nan(23);
  if (is_infinite(a, 52)) return (u32)signed_(s, infinity(23), 23);
  return (u32)(size(a, 52) == 0 ? signed_(s, 0, 23) : rounded(s, exponent(a, 52), mantissa(a, 52), 23));
}
u32 emulated_i64_f32(i64 a) { return (u32)from(a < 0, a < 0 ? -(u64)a : (u64)a, 23); }
u64 emulated_i64_f64(i64 a) { return from(a < 0, a < 0 ? -(u64)a : (u64)a, 52); }
u32 emulated_u64_f32(u64 a) { return (u32)from(0, a, 23); }
u64 emulated_u64_f64(u64 a) { return from(0, a, 52); }
u64 emulated_f32_i64(u32 a) { return sign(a, 23) ? -whole(a, 23) : whole(a, 23); }
u64 emulated_f64_i64(u64 a) { return sign(a, 52) ? -whole(a, 52) : whole(a, 52); }

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
