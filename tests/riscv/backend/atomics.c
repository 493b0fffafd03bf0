/* SPDX-License-Identifier: Apache-2.0 */
/* Atomic read-modify-write of every operation, order and width. A pointer is to 16 elements: of float where its name begins with f,
   signed char b, short h, long long w, int otherwise. */
#include <stdatomic.h>
#include <stdbool.h>
typedef long long i64;
#define ALL(p, k, v) \
  (__atomic_fetch_add(&p[0], v, __ATOMIC_RELAXED) + __atomic_fetch_sub(&p[1], v, __ATOMIC_ACQUIRE) \
   + __atomic_fetch_and(&p[2], v, __ATOMIC_RELEASE) + __atomic_fetch_or(&p[3], v, __ATOMIC_ACQ_REL) \
   + __atomic_fetch_xor(&p[4], v, __ATOMIC_SEQ_CST) + __atomic_fetch_nand(&p[5], v, __ATOMIC_SEQ_CST) \
   + __atomic_exchange_n(&p[6], v, __ATOMIC_RELAXED) + __atomic_fetch_min(&p[7], v, __ATOMIC_ACQUIRE) \
   + __atomic_fetch_max(&p[8], v, __ATOMIC_RELEASE) + __atomic_add_fetch(&p[k], v, __ATOMIC_SEQ_CST))
int words(int *a, int v) { return ALL(a, (v & 15), v); }
i64 wides(i64 *w, i64 v) { return ALL(w, (v & 15), v); }
int bytes(signed char *b, int v) { return ALL(b, (v & 15), (signed char)v); }
int halves(short *h, int v) { return ALL(h, (v & 15), (short)v); }
unsigned least(unsigned *a, unsigned v) { return __atomic_fetch_min(&a[1], v, 5) + 3 * __atomic_fetch_max(&a[2], v, 5); }
int narrow_least(signed char *b, short *h, int v) {
  unsigned char *u = (unsigned char *)b;
  unsigned short *v2 = (unsigned short *)h;
  return __atomic_fetch_min(&u[v & 15], (unsigned char)v, 5) + 3 * __atomic_fetch_max(&v2[v & 15], (unsigned short)v, 5);
}
int exchanged(int *a, int expected, int v) {
  int old = expected;
  int done = __atomic_compare_exchange_n(&a[v & 15], &old, v, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
  old = a[3];
  done += 2 * __atomic_compare_exchange_n(&a[3], &old, v, 1, __ATOMIC_RELEASE, __ATOMIC_ACQUIRE);
  return done * 1000 + old;
}
i64 wide_exchanged(i64 *w, i64 expected, i64 v) {
  bool done = __atomic_compare_exchange_n(&w[v & 15], &expected, v, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
  return done + 2 * expected;
}
int narrow_exchanged(signed char *b, short *h, int v) {
  int done = 0;
  for (int k = 0; k < 16; k++) {
    signed char old = (signed char)(v >> k);
    short half = h[15 - k];
    done += __atomic_compare_exchange_n(&b[k], &old, (signed char)(k * 9), 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    done += 100 * old + 7 * __atomic_compare_exchange_n(&h[k], &half, (short)(v + k), 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
  }
  return done;
}
int standard(int *a, int v) {
  _Atomic int *p = (_Atomic int *)a;
  *p += v;
  (*p)++;
  int old = atomic_fetch_sub_explicit(p + 1, v, memory_order_relaxed), seen = 3;
  atomic_compare_exchange_strong(p + 2, &seen, v);
  return old + seen + atomic_exchange(p + 3, *p ^ v) + (*(p + 4) *= 3);
}
int flags(int *a, int n) {
  atomic_flag flag = ATOMIC_FLAG_INIT;
  int was = 0;
  for (int k = 0; k < (n & 7); k++) was = was * 2 + atomic_flag_test_and_set(&flag);
  atomic_flag_clear(&flag);
  _Atomic bool own = false;
  return was + 1000 * atomic_exchange(&own, true) + own + a[0];
}
float reals(float *f, float v) {
  _Atomic float *p = (_Atomic float *)f;
  *p += v;
  *(p + 1) -= 2 * v;
  float old = 1;
  __atomic_exchange(&f[2], &v, &old, __ATOMIC_SEQ_CST);
  return old + *p;
}
int pointed(int *a, int n) {
  _Atomic(int *) p = a + 1;
  int *before = atomic_exchange(&p, a + (n & 7)), *wanted = a + 3;
  int done = atomic_compare_exchange_strong(&p, &wanted, a);
  return (int)(before - a) * 100 + done * 10 + (int)(p - a);
}
/* More values than registers live around the loop. */
int pressed(int *a, int n) {
  int x0 = a[0], x1 = a[1], x2 = a[2], x3 = a[3], x4 = a[4], x5 = a[5], x6 = a[6], x7 = a[7], x8 = a[8], x9 = a[9];
  int y0 = a[10] + n, y1 = a[11] ^ n, y2 = a[12] - n, y3 = a[13] * n, y4 = a[14] & n, y5 = a[15] | n, s = 0;
  int z0 = x0 * n, z1 = x1 ^ y0, z2 = x2 * y1, z3 = x3 - y2, z4 = x4 * y3, z5 = x5 + y4, z6 = x6 * y5, z7 = x7 ^ y1, z8 = x8 * y2, z9 = x9 + y3;
  for (int k = 0; k < 4; k++) {
    int old = z0 + k * z1;
    s += __atomic_compare_exchange_n(&a[k], &old, y0 * x1 + y1 * x2 + y2 * x3 + y3 * x4 + y4 * x5 + y5 * x6, 0, 5, 5) + old;
    s += __atomic_exchange_n(&a[4 + k], x7 * y0 + x8 * y1 + x9 * y2 + old, 5);
  }
  return s + x0 + x1 * 2 + x2 * 3 + x3 * 4 + x4 * 5 + x5 * 6 + x6 * 7 + x7 + x8 + x9 + y0 + y1 + y2 + y3 + y4 + y5 + (z0 ^ z1 ^ z2 ^ z3 ^ z4) + (z5 ^ z6 ^ z7 ^ z8 ^ z9);
}
