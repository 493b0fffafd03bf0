# SPDX-License-Identifier: Apache-2.0
"""Kernels whose indices, bounds and branches are data."""

import polyloom as pl

N, M, K = pl.sizes("N M K")


@pl.kernel
def gather(x: pl.f32[M], p: pl.i32[N], y: pl.f32[N]):
    for i in range(N):
        y[i] = x[p[i]]


@pl.kernel
def scatter(x: pl.f32[N], p: pl.u16[N], y: pl.f32[N]):
    for i in range(N):
        y[p[i]] = x[i]


@pl.kernel
def inverse(p: pl.i32[N], y: pl.i32[N]):
    for i in range(N):
        y[p[i]] = i


@pl.kernel
def histogram(k: pl.u8[N], h: pl.i32[256]):
    for i in range(N):
        h[k[i]] += 1


@pl.kernel
def cleared(k: pl.i32[N], h: pl.i32[M]):
    for j in range(M):
        h[j] = 0
    for i in range(N):
        h[k[i]] += 1


@pl.kernel
def csr(row: pl.i32[N + 1], col: pl.i32[K], v: pl.f32[K], x: pl.f32[M], y: pl.f32[N]):
    for i in range(N):
        y[i] = 0.0
        for k in range(row[i], row[i + 1]):
            y[i] += v[k] * x[col[k]]


@pl.kernel
def coordinates(of: pl.i32[K], col: pl.i32[K], v: pl.f32[K], x: pl.f32[M], y: pl.f32[N]):
    for i in range(N):
        y[i] = 0.0
    for k in range(K):
        y[of[k]] += v[k] * x[col[k]]


@pl.kernel
def rows(x: pl.f32[M, K], p: pl.i32[N], y: pl.f32[N, K]):
    for i in range(N):
        at = p[i]
        for k in range(K):
            y[i, k] = x[at, k]


@pl.kernel
def twice(x: pl.i32[N], p: pl.i32[N], q: pl.i32[N], y: pl.i32[N]):
    for i in range(N):
        y[i] = x[p[q[i]]] + x[p[i]]


@pl.kernel
def guarded(x: pl.i32[N], p: pl.i32[N], y: pl.i32[N]):
    for i in range(N):
        if p[i] >= 0:
            y[p[i]] = x[i]
        else:
            y[i] += 1


@pl.kernel
def chosen(x: pl.i32[N], p: pl.i32[N], y: pl.i32[N]):
    for i in range(N):
        y[i] = x[p[i]] + 1 if p[i] >= 0 else -7


@pl.kernel
def both(x: pl.i32[N], p: pl.i32[N], y: pl.i32[N]):
    for i in range(N):
        if p[i] >= 0 and x[p[i]] > 3:
            y[i] = x[p[i]]
        if p[i] < 0 or x[p[i]] < 0:
            y[i] -= 1


@pl.kernel
def narrow(x: pl.i32[256], p: pl.u8[N], y: pl.i32[N]):
    for i in range(N):
        y[i] = x[p[i] + 250]


@pl.kernel
def bounded(p: pl.i32[N], x: pl.i32[N], y: pl.i32[N]):
    for i in range(N):
        y[i] = 0
        for k in range(min(p[i], i)):
            y[i] += x[k]
        for k in reversed(range(p[i], N)):
            y[i] = y[i] * 3 + x[k]


@pl.kernel
def at(at: pl.i32[N], test: pl.i32[N], at_1: pl.i32[N]):
    for i in range(N):
        if at[i] > 0:
            at_1[at[i] - 1] = test[at[i]]
