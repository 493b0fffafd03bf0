/* SPDX-License-Identifier: Apache-2.0 */
/* Iterations that decide: polyloom run examples/loops/conditional.c --function choose n=1000 --on belt:silver */
#include <stdint.h>

/* A product or a difference. */
void choose(int n, const int32_t a[restrict n], const int32_t b[restrict n], int32_t y[restrict n]) {
  for (int i = 0; i < n; i++) {
    if (a[i] > b[i])
      y[i] = a[i] * b[i];
    else
      y[i] = a[i] - b[i];
  }
}

void relu(int n, float slope, const float x[restrict n], float y[restrict n]) {
  for (int i = 0; i < n; i++) y[i] = x[i] > 0 ? x[i] : slope * x[i];
}

/* What does not hold is not stored. */
void mark(int n, int32_t limit, const int32_t x[restrict n], int32_t y[restrict n]) {
  for (int i = 0; i < n; i++)
    if (x[i] > limit) y[i] = x[i] - limit;
}

int32_t count(int n, int32_t low, int32_t high, const int32_t x[restrict n]) {
  int32_t found = 0;
  for (int i = 0; i < n; i++)
    if (x[i] >= low && x[i] < high) found++;
  return found;
}

int32_t compact(int n, const int32_t x[restrict n], int32_t y[restrict n]) {
  int32_t kept = 0;
  for (int i = 0; i < n; i++) {
    if (x[i] <= 0) continue;
    y[kept] = x[i];
    kept++;
  }
  return kept;
}

int64_t grades(int n, const int16_t x[restrict n]) {
  int64_t sum = 0;
  for (int i = 0; i < n; i++) {
    switch (x[i] & 3) {
    case 0: sum += x[i]; break;
    case 1: sum -= x[i]; break;
    case 2: sum += 2 * x[i]; break;
    default: sum ^= 1; break;
    }
  }
  return sum;
}
