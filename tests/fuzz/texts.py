# SPDX-License-Identifier: Apache-2.0
"""C texts that no verb may answer with an internal error: constructs of C11 and of GNU C put together at random, and
programs with bytes changed.

`fuzz_c(seconds, seed)` gives the findings; a finding is a text with what it gave instead of an exit code from 0 to 4
and a message. What `constructs` and `random_program` write is C that clang takes, so that it reaches what comes after
clang, and without undefined behaviour, so that a difference (exit code 4) is a finding, too. Bytes are changed by
`mutated`, whose programs may mean anything.
"""

from __future__ import annotations

import contextlib
import io
import re
import signal
import tempfile
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from types import FrameType
from typing import Final

from polyloom.cli.entry import main

ROOT: Final = Path(__file__).parents[2]
TARGETS: Final = ("tcpa", "riscv:rv64gc", "riscv:rv32imac")
SLOWEST: Final = 120
"""Seconds of processor time after which a text counts as one without an end."""
MOST: Final = "200000"
"""Instructions of a run."""

STATEMENTS: Final = (
    "x = {e};",
    "x += {e};",
    "a[0] = {e};",
    "a[x & 1] = {e};",
    "for (int i = 0; i < n; i++) {{ {s} }}",
    "for (int i = 0; i < n; i++) a[i] = a[i] + {e};",
    "for (int i = n - 1; i >= 0; --i) a[i] = i;",
    "for (int i = 0, j = 3; i < j; i++, j--) x += i;",
    "for (x = 0; ; ) {{ if (x++ > 3) break; {s} }}",
    "for (;;) {{ {s} break; }}",
    "while (x < 3 && y < 100) {{ x++; y++; {s} }}",
    "do {{ {s} }} while (0);",
    "do {{ y++; }} while (y < 7);",
    "if ({e}) {{ {s} }} else {{ {s} }}",
    "if ({e}) {s}",
    "if (n > 1) {{ {s} }}",
    "switch ({e}) {{ case 0: {s} break; case 1 ... 3: {s} default: {s} case 7:; }}",
    "switch (x & 3) {{ default: for (int i = 0; i < 2; i++) {{ case 1: y++; }} }}",
    "switch (x) {{ int z; case 5: z = x; y = z; }}",
    "goto L{k}; L{k}: {s}",
    "L{k}: if (y++ < 5) goto L{k};",
    "{{ static void *const t[] = {{ &&A{k}, &&B{k} }}; goto *t[x & 1]; A{k}: y++; B{k}: y--; }}",
    "{{ __label__ l; goto l; l: {s} }}",
    ";",
    "{{ }}",
    "{{ {s} {s} }}",
    "(void)x;",
    "((x = {e}));",
    "x++, --y;",
    "return;",
    "{{ int v[(x & 3) + 1]; v[0] = {e}; x = v[0]; }}",
    "{{ int v[3] = {{ [1] = {e}, [0 ... 0] = 4 }}; x = v[1]; }}",
    "{{ int v[2][2] = {{ {{ 1 }}, {{ 2, 3 }} }}; x = v[1][1]; }}",
    '{{ char s[] = "abc\\0d"; x = s[1] + sizeof s; }}',
    '{{ const char *s = "text"; x = s[x & 3]; }}',
    "{{ struct {{ int p, q; }} v = {{ .q = {e} }}; x = v.q + v.p; }}",
    "{{ struct in {{ struct {{ int p; }}; union {{ int q; float r; }}; }} v = {{ 0 }}; v.q = {e}; x = v.p; }}",
    "{{ union {{ int p; unsigned char q[4]; }} v; v.p = {e}; x = v.q[1]; }}",
    "{{ struct {{ unsigned p : 3; signed q : 5; unsigned : 0; int r : 1; }} v = {{ 1, 2, 0 }}; v.p = {e}; x = v.p + "
    "v.q; }}",
    "{{ struct {{ }} e_{k}; x += sizeof e_{k}; }}",
    "{{ struct {{ int c; int d[]; }} *p = 0; x += sizeof *p + (p != 0); }}",
    "{{ int *p = &x; *p = {e}; }}",
    "{{ int *p = a, **q = &p; **q = 3; }}",
    "{{ int *restrict p = a; p[0] += 2; }}",
    "{{ volatile int v = {e}; x = v; }}",
    "{{ register int v = {e}; x = v; }}",
    "{{ static int v = 3; v += 0; x = v; }}",
    "{{ extern int n_; (void)sizeof n_; }}",
    "{{ typedef int t[2]; t v = {{ 1, 2 }}; x = v[1]; }}",
    "{{ enum {{ P, Q = 5 }} v = Q; x = v; }}",
    "{{ _Bool b = {e}; x = b; }}",
    "{{ _Complex float z = 1.0f; x = __real__ z; }}",
    "{{ _Complex double z = 1.0 + 2.0i; z *= z; x = (int)__imag__ z; }}",
    "{{ __int128 w = {e}; w *= w; x = (int)(w >> 3); }}",
    "{{ _Float16 h = 1.5f16; h += 1; x = (int)h; }}",
    "{{ __bf16 *h = 0; x += h != 0; }}",
    "{{ long double d = 1.5L; d *= x; x = (int)d; }}",
    "{{ double d = {e}; d = d / 3; x = (int)d; }}",
    "{{ float d = y; x = (int)(d * 0.5f); }}",
    "{{ long long w = {e}; w *= 3; x = (int)(w >> 2); }}",
    "{{ unsigned u = {e}; u /= 3; x = (int)(u & 255); }}",
    "{{ unsigned char u = {e}; u++; x = u; }}",
    "{{ short u = {e}; u <<= 2; x = u; }}",
    "{{ typedef int v4 __attribute__((vector_size(16))); v4 v = {{ 1, 2, 3, 4 }}; v = v + v; x = v[1]; }}",
    "{{ typedef float v2 __attribute__((ext_vector_type(2))); v2 v = {{ 1, 2 }}; v = v.yx; x = (int)v.x; }}",
    "{{ _Atomic int v = 3; v += 2; x = v; }}",
    "{{ int v = 1; x = __atomic_load_n(&v, __ATOMIC_SEQ_CST); __atomic_store_n(&v, 2, __ATOMIC_RELEASE); }}",
    "{{ int v = 1; x = __atomic_fetch_add(&v, 2, __ATOMIC_ACQ_REL); }}",
    "__sync_synchronize();",
    "__atomic_thread_fence(__ATOMIC_ACQUIRE);",
    '_Static_assert(sizeof(int) == 4, "four");',
    '__asm__ volatile ("");',
    '__asm__ ("nop" : "=r"(x) : "0"(x) : "memory");',
    "__builtin_assume(n < 1000);",
    "if (n > 100) __builtin_unreachable();",
    "if (x == 123456) __builtin_trap();",
    "__builtin_prefetch(a);",
    "__builtin_memset(a, 0, sizeof *a);",
    "__builtin_memcpy(&x, &y, sizeof x);",
    '_Pragma("GCC unroll 2") for (int i = 0; i < 2; i++) y++;',
    "\n#pragma scop\n{s}\n#pragma endscop\n",
    "\n#pragma clang loop unroll(disable)\nfor (int i = 0; i < 2; i++) y++;",
    "\n#pragma omp parallel for\nfor (int i = 0; i < 2; i++) y++;",
    "[[maybe_unused]] int u{k} = {e};",
    "__attribute__((unused)) int u{k} = 3;",
    "{{ __auto_type v = {e}; x = v; }}",
    "{{ __typeof__(x) v = {e}; x = v; }}",
    "{{ int v; x = sizeof(v = 3) + _Alignof(int); }}",
    "{{ int (*p)(int) = h; x = p(x); }}",
    "{{ int (*p[2])(int) = {{ h, h }}; x = p[1](x); }}",
    "x = h(x);",
    "h(h(x));",
    "{{ void *p = a; x = *(int *)p; }}",
    "{{ char *p = (char *)a; x = p[1]; }}",
    "{{ int v[2]; v[0] = v[1] = {e}; int *p = v + 1; x = p[-1] + (int)(p - v); }}",
    "{{ int v = ({{ int w = {e}; w + 1; }}); x = v; }}",
    "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) if (i == j) a[i] += j;",
    "for (int i = 0; i < n; i += 2) {{ int v = a[i]; a[i] = v > 0 ? v : -v; }}",
    "for (int i = 0; i < n; i++) {{ if (a[i] > 2) continue; {s} }}",
    "for (unsigned i = 0; i < 3; i++) y += i;",
    "for (char i = 0; i < 3; i++) y += i;",
    "for (int *p = a; p < a + n; p++) *p = 1;",
    "for (float z = 0; z < 2; z++) y++;",
    "for (struct {{ int i; }} z = {{ 0 }}; z.i < 2; z.i++) y++;",
    "for (int i = 0; i < n; ({{ i++; }})) y++;",
)
EXPRESSIONS: Final = (
    "x",
    "y",
    "n",
    "a[0]",
    "a[y & 1]",
    "0[a]",
    "*a",
    "3",
    "0x7fu",
    "'c'",
    "'ab'",
    "L'x'",
    "u'x'",
    "1.5f",
    "2.5",
    "1e3",
    "0x1p3",
    "1.0L",
    "true_",
    "sizeof(int)",
    "sizeof x",
    "sizeof(int[n])",
    "_Alignof(long)",
    "__func__[0]",
    '"abc"[1]',
    "(x & 255) * 3",
    "({e}) & 1",
    "({e}) & ({e}) & 3",
    "(x & 7) << 2",
    "(x & 1023) >> 1",
    "(y & 63) / 3",
    "(y & 63) % 5",
    "!({e})",
    "~(x & 3)",
    "-(x & 3)",
    "+x",
    "({e}) ? 1 : 0",
    "x ?: 3",
    "({e}, 3)",
    "({e}) && y",
    "x || ({e})",
    "x == y",
    "n < 3",
    "(x = 3)",
    "(y += 1)",
    "x++",
    "--y",
    "(int)1.5f",
    "(unsigned char)x",
    "(_Bool)x",
    "(float)y > 0.5f",
    "(long long)y > 3",
    "(int[]){{ 1, 2, 3 }}[1]",
    "(struct S){{ 1, 2 }}.q",
    "((struct S[2]){{ [1].q = 4 }})[1].q",
    "_Generic(x, int: 1, float: 2, default: 3)",
    "_Generic(1.0, int: h, default: h)(3)",
    "({{ int w = y; w & 7; }})",
    "({{ 3; }})",
    "__builtin_choose_expr(1, 2, x)",
    "__builtin_constant_p(x)",
    "__builtin_types_compatible_p(int, long)",
    "__builtin_offsetof(struct S, q)",
    "__builtin_expect(x & 1, 0)",
    "__builtin_popcount(x)",
    "__builtin_clz(n | 1)",
    "__builtin_bswap32(x) & 255",
    "__builtin_abs(x & 15)",
    "(int)__builtin_sqrtf(4.0f)",
    "(int)__builtin_fmaf(1.0f, 2.0f, 3.0f)",
    "__builtin_add_overflow(x & 3, y & 3, &x)",
    "(int)(long)&x & 0",
    "&a[1] - a",
    "&*a == a",
    "(x & 3) * (y & 3) - n",
    "h(x & 3)",
    "(h)(3)",
    "(*h)(3)",
    "(&h)(3)",
    "(**h)(3)",
    "g0 & 7",
    "t0[x & 1]",
    "s0.q",
    "(&s0)->p",
    "c0",
    "__LINE__",
    "MACRO(x & 3)",
    "__extension__ (x & 3)",
    "sizeof(struct S)",
    "(void *)0 == a",
    "(x > 3) == (y > 3) != 1",
    'L"wide"[1]',
    'u8"text"[0]',
    "__builtin_object_size(a, 0) == 3",
    "(char)300",
    "(short)70000",
    "0b101",
    "1 ? x : y",
    "(x & 1) ? h(1) : h(2)",
)
HEAD: Final = """struct S { int p, q; };
static int g0 = 5;
static const int t0[2] = { 1, 2 };
static struct S s0 = { 3, 4 };
enum { c0 = 4, true_ = 1 };
#define MACRO(v) ((v) + (v))
static int h(int v) { return (v & 15) + 1; }
"""
FUNCTIONS: Final = (
    "void f(int n, int a[n], int x, int y) {{ {s} }}",
    "void f(int n, int a[n]) {{ int x = 2, y = 1; __builtin_assume(n > 2); {s} }}",
    "void f(int n, int a[static n]) {{ int x = 2, y = 1; __builtin_assume(n > 2); {s} {s} a[1] = x + y; }}",
    "void f(int n, int a[const n]) {{ int x = 2, y = 1; __builtin_assume(n > 2); for (int i = 0; i < n; i++) {{ {s} "
    "}} }}",
    "int f(int n, int a[restrict n]) {{ int x = a[0], y = 1; __builtin_assume(n > 2); {S} {s} return {e}; }}",
    "__attribute__((noinline, noclone)) void f(int n, int a[n]) {{ int x = 2, y = 1; __builtin_assume(n > 2); {s} }}",
    "static inline void f(int n, int a[n]) {{ int x = 2, y = 1; __builtin_assume(n > 2); {s} }}",
    "long long f(int n, int a[n]) {{ int x = 2, y = 1; __builtin_assume(n > 2); {S} return {e}; }}",
    "float f(int n, int a[n]) {{ int x = 2, y = 1; __builtin_assume(n > 2); {S} return {e}; }}",
)
WHOLE: Final[tuple[str, ...]] = (
    "",
    "\n",
    "/* nothing */",
    "// nothing",
    "/* open",
    "int x;",
    "int f(int n);",
    "struct s { int a; };",
    "typedef int t;",
    '_Static_assert(1, "");',
    '#error "no"\n',
    '#include "missing.h"\n',
    "#include <missing.h>\n",
    '#include "f.c"\nvoid f(void) {}\n',
    "#include __FILE__\n",
    "#if 1\n",
    "#define X X\nint f(int X) { return X; }\n",
    '#line 7 "other.c"\nvoid f(int n, int a[n]) { while (n) a[0] = 1; }\n',
    "#line 2000000000\nvoid f(int n, int a[n]) { goto l; l: a[0] = __LINE__; }\n",
    '# 5 "a\\"b.c" 3\nvoid f(int n, int a[n]) { goto l; l: a[0] = 1; }\n',
    "void f() {}\n",
    "void f();\nvoid f() {}\n",
    "int f() { return 3; }\n",
    "f() { return 3; }\n",
    "f(n) { return n; }\n",
    "int f(n, a) int n; int a[]; { return a[0]; }\n",
    "int f(c, s, d) char c; short s; float d; { return c + s + (int)d; }\n",
    "int f(c, n) unsigned char c; { return c + n; }\n",
    "void f(void) { }\n",
    "void f(int) { }\n",
    "void f(int, int n, int a[n]) { a[0] = n; }\n",
    "void f(int n, int [n]) { }\n",
    "void f(int n, int a[*]);\nvoid f(int n, int a[n]) { a[0] = 1; }\n",
    "void f(int n, int a[n][n]) { a[0][1] = 1; }\n",
    "void f(int n, int (*a)[n]) { a[0][1] = 1; }\n",
    "void f(int n, int a[n + 1][2 * n]) { a[n][1] = 1; }\n",
    "void f(int n, int a[n * n]) { a[0] = 1; }\n",
    "void f(int n, int a[n > 2 ? n : 3]) { a[0] = 1; }\n",
    "int k(int); void f(int n, int a[k(n)]) { a[0] = 1; }\n",
    "void f(int n, int a[sizeof(int)]) { a[0] = 1; }\n",
    "void f(int n, int a[({ n; })]) { a[0] = 1; }\n",
    "void f(int n, int a[n][2][0]) { }\n",
    "void f(int n, int a[0]) { }\n",
    "void f(int a[-1]) { }\n",
    "void f(int a[99999999999]) { a[0] = 1; }\n",
    "void f(int n, int a[0x10]) { a[15] = 1; }\n",
    "void f(int n, int a[010]) { a[7] = 1; }\n",
    "void f(int n, int a['a']) { a[7] = 1; }\n",
    "void f(int n, int a[4u]) { a[3] = 1; }\n",
    "void f(int n, int a[4L * 2]) { a[3] = 1; }\n",
    "enum { N = 4 }; void f(int a[N]) { a[3] = 1; }\n",
    "#define N 4\nvoid f(int a[N]) { a[3] = 1; }\n",
    "void f(int n, ...) { }\n",
    "#include <stdarg.h>\nint f(int n, ...) { va_list l; va_start(l, n); int x = va_arg(l, int); va_end(l); return x; "
    "}\n",
    "void f(int (*g)(int)) { g(3); }\n",
    "void f(int g(int)) { g(3); }\n",
    "void f(void (*g)(int a[3], int b)) { }\n",
    "int (*f(int n))(int) { return 0; }\n",
    "int *f(int *p) { return p; }\n",
    "int (*f(int n, int a[n]))[3] { return 0; }\n",
    "struct S { int a; }; struct S f(struct S s) { return s; }\n",
    "struct S { int a; }; void f(struct S s) { }\n",
    "struct S; void f(struct S *s) { }\n",
    "struct S { }; void f(struct S s[3]) { }\n",
    "struct S { int n; int d[]; }; void f(struct S *s) { s->n = 3; }\n",
    "struct S { int a : 3; }; void f(struct S *s) { s->a = 3; }\n",
    "struct S { struct T { int b; } t; int c[2][3]; }; void f(struct S s[2]) { s[1].t.b = s[0].c[1][2]; }\n",
    "struct S { struct { int b; }; }; void f(struct S *s) { s->b = 3; }\n",
    "struct S { union { int b; float c; } u; }; void f(struct S *s) { s->u.b = 3; }\n",
    "struct S { int *p; }; void f(struct S *s) { *s->p = 3; }\n",
    "struct S { _Complex float z; }; void f(struct S *s) { s->z = 3; }\n",
    "struct S { int x; } __attribute__((aligned(32))); void f(struct S s[2]) { s[1].x = s[0].x; }\n",
    "union U { int a; float b; }; void f(union U *u) { u->a = 3; }\n",
    "enum E; void f(enum E *e) { }\n",
    "enum E { A }; enum E f(enum E e) { return e; }\n",
    "enum E { A } f(void) { return A; }\n",
    "struct { int x; } g; void f(__typeof__(g) *p) { p->x = 1; }\n",
    "typedef struct { int x; } T; void f(T *p) { p->x = 1; }\n",
    "typedef int R[4]; void f(R r) { r[0] = 1; }\n",
    "typedef int R[4]; void f(R r[2]) { r[1][3] = 1; }\n",
    "typedef int R[4]; void f(R *r) { (*r)[3] = 1; }\n",
    "typedef int R[]; void f(R r) { r[0] = 1; }\n",
    "typedef int F(int); F f; int f(int n) { return n; }\n",
    "typedef int F(int); void f(F *g) { }\n",
    "typedef struct S *P; struct S { int x; }; void f(P p) { p->x = 1; }\n",
    "typedef int *P; void f(P p) { *p = 1; }\n",
    "typedef int int_; typedef int_ int__; typedef const int__ k; int f(k a) { return a; }\n",
    "_Bool f(_Bool b) { return !b; }\n",
    "_Complex float f(_Complex float z) { return z; }\n",
    "__int128 f(__int128 z) { return z; }\n",
    "_Float16 f(_Float16 z) { return z; }\n",
    "__bf16 f(__bf16 z) { return z; }\n",
    "_BitInt(7) f(_BitInt(7) z) { return z; }\n",
    "_BitInt(65) f(_BitInt(65) z) { return z; }\n",
    "long double f(long double z) { return z; }\n",
    "__float128 f(__float128 z) { return z; }\n",
    "_Atomic int f(_Atomic int z) { return z; }\n",
    "void f(_Atomic int *z) { *z = 1; }\n",
    "void f(_Atomic(int) z[3]) { z[1] = 1; }\n",
    "typedef int v4 __attribute__((vector_size(16))); v4 f(v4 a) { return a + a; }\n",
    "typedef int v4 __attribute__((vector_size(16))); void f(v4 *a) { a[0] += a[0]; }\n",
    "void f(void *p) { *(int *)p = 1; }\n",
    "void f(const void *p) { }\n",
    "void f(int **p) { **p = 1; }\n",
    "void f(int *p[3]) { *p[0] = 1; }\n",
    "void f(char *s) { while (*s) s++; }\n",
    "void f(volatile int *p) { *p = *p; }\n",
    "void f(int *restrict p) { *p = 1; }\n",
    "void f(int *_Nonnull p) { *p = 1; }\n",
    "void f(register int n) { }\n",
    "void f(wchar_t n) { }\n",
    "#include <stddef.h>\nwchar_t f(wchar_t n) { return n; }\n",
    "#include <stdint.h>\nuint8_t f(int8_t n) { return n; }\n",
    "#include <math.h>\nfloat f(float x) { return sinf(x); }\n",
    '#include <stdio.h>\nint f(int n) { printf("%d", n); return n; }\n',
    "#include <stdlib.h>\nint f(int n) { int *p = malloc(4); *p = n; return *p; }\n",
    "#include <string.h>\nint f(char a[4]) { return strlen(a); }\n",
    "#include <setjmp.h>\njmp_buf b; int f(int n) { return setjmp(b); }\n",
    "#include <assert.h>\nint f(int n) { assert(n > 0); return n; }\n",
    "#include <complex.h>\nfloat f(float n) { return crealf(n * I); }\n",
    "#include <threads.h>\n_Thread_local int t; int f(int n) { return t + n; }\n",
    "int f(int n) { int g(int m) { return m + n; } return g(3); }\n",
    "int f(int n) { return ^{ return 3; }(); }\n",
    "int f(int n) { return undeclared(n); }\n",
    "int f(int n) { return f(n - 1); }\n",
    "int f(int n) { return n < 1 ? 0 : f(n - 1) + 1; }\n",
    "int g(int); int f(int n) { return n ? g(n - 1) : 0; } int g(int n) { return f(n); }\n",
    "int f(int n) { return n / 0; }\n",
    "int f(int n) { return 1 << 40; }\n",
    "int f(int n) { int x; return x; }\n",
    "int f(int n) { }\n",
    "int f(int n) { for (;;); }\n",
    "int f(int n) { return *(int *)0; }\n",
    'int f(int n) { return (int)"s"; }\n',
    "int f(int n) { return (int)(long)f; }\n",
    "int f(int n) { return (int)(long)&n; }\n",
    "int f(int n) { extern int e; return e; }\n",
    "extern int e[]; int f(int n) { return e[n & 3]; }\n",
    "int e[4]; int f(int n) { return e[n & 3]++; }\n",
    "static int *e = 0; int f(int n) { return e == 0; }\n",
    "static int v; static int *e = &v; int f(int n) { return *e; }\n",
    "static int (*e)(int); int f(int n) { return e ? e(n) : 3; }\n",
    'static const char *e[] = { "a", "b" }; int f(int n) { return e[n & 1][0]; }\n',
    'struct { int a; union { float b; int c; }; long long d; char e[3]; } g = { 1, 2.0f, 3, "ab" }; int f(int n) { '
    "return g.e[n & 1] + g.a; }\n",
    "_Complex float g; int f(int n) { return __real__ g == 0; }\n",
    "__int128 g; int f(int n) { return g == 0; }\n",
    "_Thread_local int g; int f(int n) { return g; }\n",
    'int g __attribute__((section(".x"))); int f(int n) { return g; }\n',
    'int g __attribute__((alias("k"))); extern int k; int f(int n) { return g; }\n',
    'int f(int n) __attribute__((alias("k"))); int k(int n) { return n; }\n',
    "int f(int n) __attribute__((weak)); int f(int n) { return n; }\n",
    "__attribute__((weak)) int k(int n); int f(int n) { return k ? k(n) : 0; }\n",
    "__attribute__((constructor)) int f(int n) { return n; }\n",
    '__attribute__((naked)) int f(int n) { __asm__("ret"); }\n',
    "__attribute__((noreturn)) void f(int n) { for (;;); }\n",
    "__attribute__((vectorcall)) int f(int n) { return n; }\n",
    "__attribute__((overloadable)) int f(int n) { return n; } __attribute__((overloadable)) int f(float n) { return "
    "1; }\n",
    'int f(int n) __asm__("other"); int f(int n) { return n; }\n',
    'int f(int n) __asm__("an odd name"); int f(int n) { return n; }\n',
    "inline int f(int n) { return n; }\n",
    "extern inline int f(int n) { return n; }\n",
    "_Noreturn void f(int n) { __builtin_unreachable(); }\n",
    "int main(void) { return 0; }\n",
    "int main(int argc, char **argv) { return argc; }\n",
    "int f(int n) { return 1; } int main(void) { return f(1); }\n",
    "int f(int n) { return 1; } int k(int n) { return 2; }\n",
    "void f(int n, int a[n]) { a[0] = 1; } void k(int n, int a[n]) { a[0] = 2; }\n",
    "int größe(int größe) { return größe; }\n",
    "int f(int ñ, int a[ñ]) { return a[ñ - 1]; }\n",
    "int \\u00e9(int n) { return n; }\n",
    "int f$g(int $) { return $; }\n",
    "int polyloom_entry(int polyloom_0) { return polyloom_0; }\n",
    "int polyloom_kept(int n) { return n; }\n",
    "float fminf(float a, float b) { return a; }\n",
    "int abs(int a) { return a; }\n",
    "int f(int return_) { return return_; }\n",
    "int f(int n, int lambda, int None, int def) { return lambda + None + def; }\n",
    "void f(int lambda, int a[lambda]) { for (int None = 0; None < lambda; None++) a[None] = 1; }\n",
    "int f(int n) { return (((n))); }\n",
    "??=define X 1\nint f(int n) <% return X; %>\n",
    "%:define X 1\nint f(int n) <% return n<:0:>; %>\n",
    "int f(int n) { retu\\\nrn n; }\n",
    "template <int n> int f() { return n; }\n",
    "class c { int f(); };\n",
    "int f(int n) { auto x = 3; return x; }\n",
    "constexpr int x = 3; int f(int n) { return x; }\n",
    "int f(int n) { return nullptr == 0; }\n",
    "int f(int n) { if (int x = n) return x; return 0; }\n",
    "@interface\n",
    "define i32 @f(i32 %n) { ret i32 %n }\n",
    "\\",
    '"',
    "'",
    "{",
    "}",
    "int f(int n) {",
    "int f(int n) { return n; }}",
    "int f(int n, int n) { return n; }\n",
    "int f(int n) { return n; } int f(int n) { return n; }\n",
    "#pragma once\nint f(int n) { return n; }\n",
    "#pragma pack(1)\nstruct S { char a; int b; }; void f(struct S *s) { s->b = 1; }\n",
    "#pragma weak f\nint f(int n) { return n; }\n",
    "#pragma redefine_extname f g\nint f(int n) { return n; }\n",
    "#pragma STDC FENV_ACCESS ON\nfloat f(float a) { return a + 1; }\n",
    "#pragma STDC FP_CONTRACT ON\nfloat f(float a, float b) { return a * b + 1; }\n",
    "#pragma clang attribute push(__attribute__((noinline)), apply_to = function)\nint f(int n) { return n; }\n",
    "#pragma clang optimize off\nint f(int n) { return n; }\n",
    "#pragma GCC poison f\nint f(int n) { return n; }\n",
    "#pragma GCC system_header\nint f(int n) { return n; }\n",
    "#pragma GCC visibility push(hidden)\nint f(int n) { return n; }\n",
    "void f(int n, int a[n]) {\n#pragma scop\n a[0] = 1; }\n",
    "void f(int n, int a[n]) {\n#pragma endscop\n a[0] = 1;\n#pragma scop\n }\n",
    '#define S _Pragma("scop")\nvoid f(int n, int a[n]) { S a[0] = 1; }\n',
    "#define BODY { for (int i = 0; i < n; i++) a[i] = i * (n > 3); }\nvoid f(int n, int a[n]) BODY\n",
    "#define F(name) void name(int n, int a[n]) { while (n--) a[n] = 1; }\nF(f)\n",
    "#define EMPTY\nvoid f(int n, int a[n]) { for (EMPTY int i EMPTY = 0; i < n; i++) a[i] EMPTY = EMPTY 1; }\n",
    "#define P(x) #x\nint f(int n) { return P(n)[0]; }\n",
    "#define C(a, b) a##b\nint f(int n) { int C(x, y) = 3; return xy; }\n",
    '#embed "f.c"\n',
    'int f(int n) { return __has_include("f.c"); }\n',
    '#if __has_include("f.c")\nint f(int n) { return n; }\n#endif\n',
    "int f(int n) { return __COUNTER__ + __INCLUDE_LEVEL__; }\n",
    "int f(int n) { return __DATE__[0]; }\n",
    "int f(int n) { int x = n; { int x = x; (void)x; } return x; }\n",
    "int f(int n) { return sizeof(struct { int a; }[n & 3]); }\n",
    "void f(int n, int m, int a[n][m]) { for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) a[i][j] = a[j][i]; "
    "}\n",
    "void f(int n, float a[n]) { for (int i = 0; i < n; i++) a[i] = a[i] * 0.1; }\n",
    "void f(int n, double a[n]) { for (int i = 0; i < n; i++) a[i] = a[i] * 0.1; }\n",
    "void f(int n, int a[n]) { for (int i = 0; i < n; i++) a[a[i] & 0] = 1; }\n",
    "void f(int n, int a[n]) { for (int i = 0; i < n; i++) a[i * i] = 1; }\n",
    "void f(int n, int a[n]) { for (int i = 0; i < n; i++) n = 3; }\n",
    "void f(int n, int a[n]) { for (int i = 0; i < n; i++) i = 3; }\n",
    "void f(int n, int a[n]) { for (int i = 0; i < n; i += i) a[i] = 1; }\n",
    "void f(int n, int a[n]) { for (int i = 0; i != n; i++) a[i] = 1; }\n",
    "void f(int n, int a[n]) { for (long i = 0; i < n; i++) a[i] = 1; }\n",
    "void f(int n, int a[n]) { int i; for (i = 0; i < n; i++); a[0] = i; }\n",
    "void f(int n, int a[n]) { for (int i = 99999999999; i < n; i++) a[i] = 1; }\n",
    "void f(int n, int a[n]) { for (int i = 0; i < 2147483647; i++) a[0] = 1; }\n",
    "void f(int n, int a[n]) { a = 0; }\n",
    "void f(int n, int a[n]) { a++; *a = 1; }\n",
    "void f(int n, int a[n]) { (n ? a : a)[0] = 1; }\n",
    "void f(int n, int a[n]) { (a + 1)[0] = 1; }\n",
    "void f(int n, int a[n]) { *&a[0] = 1; }\n",
    "void f(int n, int a[n]) { (&a[0])[0] = 1; }\n",
    "void f(int n, int a[n]) { 0[a] = 1; }\n",
    "void f(int n, int a[n]) { a[0.5] = 1; }\n",
    "void f(int n, int a[n]) { a[n = 0] = 1; }\n",
    "void f(int n, int a[n]) { a[0] = a[0] = 1; }\n",
    "void f(int n, int a[n]) { n ? (a[0] = 1) : (a[0] = 2); }\n",
    "void f(int n, int a[n]) { n && (a[0] = 1); }\n",
    "void f(int n, int a[n]) { if (a[0] = 1) a[1] = 2; }\n",
    "void f(int n, int a[n]) { if (a) a[0] = 2; }\n",
    'void f(int n, int a[n]) { if ("s") a[0] = 2; }\n',
    "void f(int n, int a[n]) { return a[0] = 2, (void)0; }\n",
    "void f(int n, int a[n]) { f; }\n",
    "void f(int n, int a[n]) { 1; a[0]; }\n",
    "void f(int n, int a[n]) { *(int (*)[n])a; }\n",
    "void f(int n, int a[n]) { sizeof(a[0] = 3); }\n",
    "void f(int n, int a[n]) { int b[n]; for (int i = 0; i < n; i++) b[i] = a[i]; for (int i = 0; i < n; i++) a[i] = "
    "b[i]; }\n",
    "void f(int n, int a[n]) { int b[n * n]; b[0] = 1; a[0] = b[0]; }\n",
    "void f(int n, int a[n]) { int b[0]; (void)b; }\n",
    "void f(int n, int a[n]) { int b[] = { 1, 2 }; a[0] = b[1]; }\n",
    "void f(int n, int a[n]) { int b[2] = { 0 }; a[0] = b[1]; }\n",
    "void f(int n, int a[n]) { int x = x; a[0] = 1; }\n",
    "void f(int n, int a[n]) { const int m = n; for (int i = 0; i < m; i++) a[i] = 1; }\n",
    "void f(int n, int a[n]) { int m = 2147483647; m++; a[0] = m; }\n",
    "void f(int n, int a[n]) { a[0] = 99999999999; }\n",
    "void f(int n, int a[n]) { a[0] = 9999999999999999999999999; }\n",
    "void f(int n, float a[n]) { a[0] = 1e999f; }\n",
    'void f(int n, float a[n]) { a[0] = __builtin_inff() - __builtin_nanf("3"); }\n',
    "void f(int n, float a[n]) { a[0] = -0.0f; a[1] = 0x1p-149f; }\n",
    "void f(int n, float a[n]) { a[0] = (float)(a[1] > 1 ? 2 : 3); }\n",
    "void f(int n, signed char a[n]) { for (int i = 0; i < n; i++) a[i] = a[i] / 3 * a[i] >> 2; }\n",
    "void f(int n, char a[n]) { for (int i = 0; i < n; i++) a[i] = '\\377'; }\n",
    "void f(int n, _Bool a[n]) { for (int i = 0; i < n; i++) a[i] = !a[i]; }\n",
    "void f(int n, int a[n]) { for (int i = 0; i < n; i++) { for (int i = 0; i < n; i++) a[i] = 1; } }\n",
    "void f(int n, int a[n], int b[n]) { for (int i = 0; i < n; i++) a[i] = b[i]; for (int i = 0; i < n; i++) b[i] = "
    "a[n - 1 - i]; }\n",
)
"""Files: of declarations, of declarators, and what is none."""


def raw_files() -> Iterator[bytes]:
    """What is no text of C as one writes it: marks of byte order, zero bytes, other ends of lines, deep and long
    ones."""
    plain = b"void f(int n, int a[n]) {\n  for (int i = 0; i < n; i++) a[i] = 1;\n}\n"
    yield b"\xef\xbb\xbf" + plain
    yield plain.decode().encode("utf-16")
    yield plain.replace(b"\n", b"\r\n")
    yield plain.replace(b"\n", b"\r")
    yield b"\0"
    yield plain.replace(b"= 1", b"= \0 1")
    yield plain.replace(b"a[i] = 1", b"while (1) \0 a[i] = 1")
    yield plain + b"\x1a"
    yield b"/* \xff\xfe */ " + plain.replace(b"a[i] = 1", b"while (n) a[i] = 1")
    yield plain.replace(b"f(", b"f\xff(")
    yield plain.replace(b"a[i] = 1", b"a[i] = '\xff'")
    yield "/* größer */ void f(int n, int a[n]) { /* über */ while (n) a[0] = 1; }".encode()
    for depth in (200, 2000, 20000):
        yield b"int f(int a) { return " + b"(" * depth + b"a" + b")" * depth + b"; }\n"
        yield b"int f(int a) { return " + b"-" * 0 + b"~" * depth + b"a; }\n"
        yield b"int f(int a) " + b"{" * depth + b"a++;" + b"}" * depth + b"\n"
        yield b"void f(int n, int a[n]) { " + b"if (n > 1) " * depth + b"a[0] = 1; }\n"
        yield b"int f(int n, int a[n]) { return " + b" + ".join([b"a[0]"] * depth) + b"; }\n"
        yield b"int f(int n, int a[n]) { return " + b"a[" * depth + b"0" + b"]" * depth + b"; }\n"
    yield b"int f(int " + b"*" * 3000 + b"p) { return 1; }\n"
    yield b"int f(int p" + b"[2]" * 3000 + b") { return 1; }\n"
    yield b"int " + b"f" * 100000 + b"(int n) { return n; }\n"
    yield b"int f(" + b", ".join(b"int p%d" % k for k in range(2000)) + b") { return p7; }\n"
    yield b"/*" + b"x" * 1000000 + b"*/ " + plain
    yield b"int f(int n) { return n" + b"\\\n" * 5000 + b"; }"


@dataclass(frozen=True, slots=True)
class Finding:
    """A text, the command, and what it gave."""

    text: bytes
    words: tuple[str, ...]
    what: str

    def __str__(self) -> str:
        return f"polyloom {' '.join(self.words)}: {self.what}\n{self.text[:4000].decode('utf-8', 'replace')}"


def constructs() -> Iterator[str]:
    """Every construct once, within a function."""
    for k, statement in enumerate(STATEMENTS):
        body = statement.format(s="y++;", e="x & 3", k=k)
        yield HEAD + FUNCTIONS[1 + k % 3].format(s=body, S="", e="x")
    for k, expression in enumerate(EXPRESSIONS):
        text = expression.format(e="y", k=k)
        yield HEAD + FUNCTIONS[4 if k % 2 else 1].format(s=f"a[1] = {text};", S="", e=text)


def random_program(random: Random) -> str:
    """Some constructs, one within the other."""
    labels = iter(range(10**6))

    def expression(depth: int) -> str:
        chosen = random.choice(EXPRESSIONS)
        return _filled(chosen, lambda: "x" if depth > 2 else expression(depth + 1), lambda: "", lambda: 0)

    def statement(depth: int) -> str:
        chosen = random.choice(STATEMENTS)
        return _filled(
            chosen, lambda: expression(0), lambda: "y++;" if depth > 2 else statement(depth + 1), lambda: next(labels)
        )

    return HEAD + _filled(random.choice(FUNCTIONS), lambda: expression(0), lambda: statement(0), lambda: 0)


def _filled(
    template: str, expression: Callable[[], str], statement: Callable[[], str], label: Callable[[], int]
) -> str:
    """Each mark of the template with a text of its own, but that labels of one template are the same."""
    k = str(label())
    made = re.sub(
        r"\{([esS])\}",
        lambda m: (expression() if m[1] == "e" else statement()).replace("{", "{{").replace("}", "}}"),
        template,
    )
    return made.format(k=k)


def programs() -> list[bytes]:
    """What bytes are changed of: the C programs of tests and examples."""
    folders = ("tests/frontend/c", "tests/riscv/backend", "tests/transform/ssa", "examples", "examples/kernels")
    return [path.read_bytes() for folder in folders for path in sorted((ROOT / folder).glob("*.c"))]


_WORDS: Final = re.compile(rb"\w+|[^\w\s]|\s+")


def mutated(data: bytes, random: Random) -> bytes:
    """One to four changes: words are left out, doubled, exchanged; bytes are changed; what follows is cut off."""
    for _ in range(random.randint(1, 4)):
        words = _WORDS.findall(data) or [b" "]
        k, other = random.randrange(len(words)), random.randrange(len(words))
        match random.randrange(7):
            case 0:
                words[k] = b""
            case 1:
                words[k] = words[other]
            case 2:
                words[k], words[other] = words[other], words[k]
            case 3:
                words[k] = random.choice(
                    [
                        b"0",
                        b"-1",
                        b"99999999999",
                        b"struct",
                        b"*",
                        b"(",
                        b"}",
                        b"\0",
                        b"\xff",
                        b"#",
                        b'"',
                        b"long",
                        b"void",
                    ]
                )
            case 4:
                words.insert(k, words[other])
            case 5:
                words = words[: max(k, 1)] if random.random() < 0.2 else words
            case _:
                at = random.randrange(len(data) or 1)
                data = data[:at] + bytes([random.randrange(256)]) + data[at + 1 :]
                continue
        data = b"".join(words)
    return data


def answer(text: bytes, words: Sequence[str], *, differs_by_right: bool = False) -> Finding | None:
    """What the command gave for the text, in the file `f.c` of the current directory, if that is a finding."""
    Path("f.c").write_bytes(text)
    out, err = io.StringIO(), io.StringIO()
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), _limited():
            status = main(list(words))
    except BaseException as error:  # whatever leaves `main` is a finding
        return Finding(text, tuple(words), f"{type(error).__name__}: {error}")
    message = err.getvalue()
    fine = status == 0 or (status in (1, 2, 3) and message.startswith("error[PL")) or (status == 4 and differs_by_right)
    return None if fine else Finding(text, tuple(words), f"exit code {status}: {message[:2000]}")


@contextlib.contextmanager
def _limited() -> Generator[None]:
    def stop(number: int, frame: FrameType | None) -> None:
        del number, frame
        raise TimeoutError(f"no end after {SLOWEST} seconds")

    # Time of the processor: other work on the machine makes no findings. What waits has longer by the clock.
    limits = ((signal.SIGVTALRM, signal.ITIMER_VIRTUAL, SLOWEST), (signal.SIGALRM, signal.ITIMER_REAL, 10 * SLOWEST))
    before = [signal.signal(number, stop) for number, _, _ in limits]
    for _, timer, seconds in limits:
        signal.setitimer(timer, seconds)
    try:
        yield
    finally:
        for (number, timer, _), handler in zip(limits, before, strict=True):
            signal.setitimer(timer, 0)
            signal.signal(number, handler)


def commands(target: str, verb: str, text: bytes) -> list[str]:
    """What is typed for `f.c`."""
    size = ["n=3"] if re.search(rb"f\((?:const )?int n\b", text) else []
    file = "f.c:f" if len(re.findall(rb"\)\s*\{", text)) > 1 and re.search(rb"\bf\(", text) else "f.c"
    if verb == "show":
        return ["show", file, *([] if target == "tcpa" else ["--ssa", "0" if target.startswith("riscv:rv32") else "1"])]
    if verb == "compile":
        return ["compile", file, "--on", target, "-o", "f.out"]
    return ["run", file, *size, "--on", target, *([] if target == "tcpa" else ["--max-instructions", MOST])]


def tried(
    text: bytes, targets: Sequence[str], verbs: Sequence[str], *, differs_by_right: bool = False
) -> Iterator[Finding]:
    """The findings of one text."""
    for target in targets:
        for verb in verbs:
            found = answer(text, commands(target, verb, text), differs_by_right=differs_by_right)
            if found is not None:
                yield found


def fuzz_c(seconds: float, seed: int) -> Iterator[Finding]:
    """For so long, and at least one text of each kind; the current directory is another one meanwhile."""
    end, random, seeds = time.monotonic() + seconds, Random(seed), programs()
    fixed = [text.encode() for text in (*constructs(), *WHOLE)] + list(raw_files())
    random.shuffle(fixed)
    with tempfile.TemporaryDirectory(prefix="polyloom-") as folder, contextlib.chdir(folder):
        while True:
            target, verb = random.choice(TARGETS), random.choice(("run", "run", "compile", "show"))
            if fixed:
                yield from tried(fixed.pop(), [target], [verb], differs_by_right=True)
            yield from tried(random_program(random).encode(), [target], [verb])
            yield from tried(mutated(random.choice(seeds), random), [target], [verb], differs_by_right=True)
            if time.monotonic() > end:
                return
