/* SPDX-License-Identifier: Apache-2.0 */
/* Loops that end when something is found: polyloom run examples/loops/search.c --function length n=100
   --on belt:silver */
#include <stdint.h>

/* strlen; some element is 0. */
int32_t length(int n, const int8_t s[restrict n]) {
  int32_t i = 0;
  while (s[i] != 0) i++;
  return i;
}

/* strcpy; some element of s is 0. */
void copy(int n, const int8_t s[restrict n], int8_t d[restrict n]) {
  int32_t i = 0;
  while ((d[i] = s[i]) != 0) i++;
}

int32_t find(int n, int32_t key, const int32_t x[restrict n]) {
  for (int i = 0; i < n; i++)
    if (x[i] == key) return i;
  return -1;
}

/* Some element is 0 in one of them. */
int32_t mismatch(int n, const int8_t s[restrict n], const int8_t t[restrict n]) {
  int32_t i = 0;
  while (s[i] == t[i] && s[i] != 0) i++;
  return s[i] - t[i];
}

int32_t first_above(int n, float limit, const float x[restrict n]) {
  int32_t i = 0;
  while (i < n && x[i] <= limit) i++;
  return i;
}

/* The greatest power of two that divides x, which is not 0. */
int32_t twos(uint64_t x) {
  int32_t k = 0;
  while ((x & 1) == 0 && k < 64) {
    x >>= 1;
    k++;
  }
  return k;
}
