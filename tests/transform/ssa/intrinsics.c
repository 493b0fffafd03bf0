/* SPDX-License-Identifier: Apache-2.0 */
/* C that calls a machine's intrinsics: a vector is a pointer to an incomplete type in address space 1, a mask in 2. */
#include "intrinsics.h"

/* Sums rows, but for the largest lanes; a choice between vectors is a phi or a select. */
void kernel(int n, int c) {
  vec sum = row(0);
  for (int i = 1; i < n; i++) {
    vec x = row(i);
    mask below = less(x, sum);
    vec y = c ? x : sum;
    if (c > 3) sum = add(sum, y);
    sum = merge(below, TWICE(x), sum);
  }
  put(sum, 0);
}

/* Two results in one call: C has a structure of two. */
void sorted(int a, int b) {
  struct pair both = swap(row(a), row(b));
  put(both.low, a);
  put(both.high, b);
}

/* What passes do with calls: `add` has no effect, `row` reads, `put` writes, `tick` is ordered. */
int effects(int a, int *out) {
  vec x = row(a);
  (void)add(x, x);
  (void)row(a);
  tick();
  put(add(x, x), a);
  put(add(x, x), a + 1);
  fill(out, 7);
  return *out;
}

/* Reads, and changes nothing that it is given. */
int looked(const int *in) { return look(in); }
