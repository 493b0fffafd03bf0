/* SPDX-License-Identifier: Apache-2.0 */
/* What SSA form does not have, a function for each. */
struct big {
  long a[4];
};
typedef int four __attribute__((vector_size(16)));
typedef _BitInt(24) small;
extern int elsewhere;
static int *where = &elsewhere;
int other(int x);

int calls(int x) {
  return x
       + other(x);
}

int pointer(int (*f)(int, ...), int x) { return f(x, x); }

int unknown(int x) {
  int (*volatile f)(int) = other;
  return f(x);
}

struct big returned(struct big (*f)(int), int x) { return f(x); }

int outside(int x) { return x + elsewhere; }

int address(int x) { return x + *where++; }

four vector(four a) { return a + a; }

__int128 wide(__int128 a) { return a * 3; }

long double extended(long double a) { return a; }

struct big structure(struct big a) { return a; }

int variable(int n, ...) { return n; }

int assembler(int x) {
  asm volatile("" ::: "memory");
  return x;
}

int computed(int x) {
  static void *const places[] = {&&a, &&b};
  goto *places[x];
a:
  return 1;
b:
  return 2;
}

int rotating(_Atomic struct big *p, struct big *a) {
  *a = __c11_atomic_exchange(p, *a, __ATOMIC_SEQ_CST);
  return 0;
}

unsigned long high(unsigned long a, unsigned long b) {
  return (unsigned long)(((unsigned __int128)a * b) >> 64);
}

small narrow(small a) { return a; }

double canonical(double a) {
  return __builtin_canonicalize(a);
}

unsigned long counted(void) { return __builtin_readcyclecounter(); }

int volatile_field(volatile struct three { int a : 24; } __attribute__((packed)) *p) {
  return p->a;
}

int library(double a) { return (int)__builtin_sin(a); }

int sized(int n) {
  int a[n];
  a[0] = n;
  return a[0];
}

int trapped(int n) {
  if (n) __builtin_trap();
  return n;
}

_Thread_local int own;
int threaded(int n) { return own += n; }

double exchanged(double *p, double a) { return __atomic_fetch_max(p, a, __ATOMIC_SEQ_CST); }

#include <assert.h>
int asserted(int *p) {
  assert(*p);
  return *p;
}

struct big again(struct big a, int n) { return n ? again(a, n - 1) : a; }
int recursive_structure(struct big *a, int n) {
  *a = again(*a, n);
  return n;
}

static __attribute__((noinline)) int old();
int mistaken(int n) {
  return old(n * 0.5);
}
static int old(int n) { return n; }
