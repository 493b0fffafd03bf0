/* SPDX-License-Identifier: Apache-2.0 */
/* Several ways out: polyloom run examples/loops/exits.c --function find_either n=100 a=3 b=9 --on belt:silver */
#include <stdint.h>

int32_t find_either(int n, int32_t a, int32_t b, const int32_t x[restrict n]) {
  for (int i = 0; i < n; i++) {
    if (x[i] == a) return i;
    if (x[i] == b) return -i - 1;
  }
  return n;
}

int32_t budget(int n, int32_t most, const int32_t price[restrict n], int32_t bought[restrict n]) {
  int32_t spent = 0;
  for (int i = 0; i < n; i++) {
    if (price[i] < 0) break;
    if (spent + (price[i] & 255) > most) return -spent;
    spent += price[i] & 255;
    bought[i] = 1;
  }
  return spent;
}

int32_t checked_sum(int n, const int32_t x[restrict n]) {
  int32_t sum = 0;
  for (int i = 0; i < n; i++) {
    if (x[i] > 1000000 || x[i] < -1000000) return 0;
    sum += x[i];
    if (sum < 0) sum = -sum;
  }
  return sum;
}

/* Bytes until a zero, a space, or n. */
int32_t word(int n, const int8_t s[restrict n], int8_t out[restrict n]) {
  int32_t i = 0;
  for (; i < n; i++) {
    if (s[i] == 0) break;
    if (s[i] == 32) return -i;
    out[i] = s[i];
  }
  return i;
}

int32_t collatz(uint32_t x, int32_t most) {
  int32_t steps = 0;
  while (x > 1) {
    if (steps >= most) return -1;
    x = (x & 1) ? 3 * x + 1 : x >> 1;
    steps++;
  }
  return steps;
}

float settle(int n, float limit, const float x[restrict n]) {
  float s = 0;
  for (int i = 0; i < n; i++) {
    float next = 0.5f * s + x[i];
    if (next > limit) return limit;
    if (next < -limit) return -limit;
    s = next;
  }
  return s;
}
