/* SPDX-License-Identifier: Apache-2.0 */
/* What a table of external functions does not make legal, a function for each. */
#include "intrinsics.h"
vec elsewhere(int number);
vec many(vec a);
typedef __attribute__((address_space(7))) struct vec_s *other;
other foreign(void);

void unknown(int n) { put(elsewhere(n), 0); }

void different(int n) { put(many(row(n)), 0); }

int compared(int n) { return row(n) == row(0); }

long number(int n) { return (long)row(n); }

void nothing(int n) { put(n ? row(n) : (vec)0, 0); }

void spaces(void) { foreign(); }

int *inside(int n) { return (int *)(__attribute__((address_space(0))) void *)row(n); }

vec loaded(vec *from, int n) { return from[n]; }
