/* SPDX-License-Identifier: Apache-2.0 */
/* Each iteration waits for one before: polyloom run examples/loops/recurrences.c --function iir n=1000 a=9000 b=3
   --on belt:silver */
#include <stdint.h>

void iir(int n, int32_t a, int32_t b, const int32_t x[restrict n], int32_t y[restrict n]) {
  int32_t s = 0;
  for (int i = 0; i < n; i++) {
    s = (a * s >> 15) + b * x[i];
    y[i] = s;
  }
}

/* In place: the distance is the one in the subscript. */
void add_1(int n, int32_t c, int32_t y[n + 1]) {
  for (int i = 0; i < n; i++) y[i + 1] = y[i] + c;
}

void add_3(int n, int32_t c, int32_t y[n + 3]) {
  for (int i = 0; i < n; i++) y[i + 3] = y[i] + c;
}

void add_7(int n, int32_t c, int32_t y[n + 7]) {
  for (int i = 0; i < n; i++) y[i + 7] = y[i] + c;
}

uint64_t fibonacci(int n) {
  uint64_t a = 0, b = 1;
  for (int i = 0; i < n; i++) {
    uint64_t next = a + b;
    a = b;
    b = next;
  }
  return a;
}

float horner(int n, float x, const float c[restrict n]) {
  float sum = 0;
  for (int i = 0; i < n; i++) sum = sum * x + c[i];
  return sum;
}
