# SPDX-License-Identifier: Apache-2.0
"""Kernels of several stages for tests: layers, integers, what is read turned, several results."""

from __future__ import annotations

import polyloom as pl

N, M, K, L = pl.sizes("N M K L")


@pl.kernel
def layer(x: pl.f32[N, K], W: pl.f32[K, M], b: pl.f32[M], y: pl.f32[N, M]) -> None:
    for i in range(N):
        for j in range(M):
            total = 0.0
            for k in range(K):
                total += x[i, k] * W[k, j]
            y[i, j] = max(total + b[j], 0.0)


@pl.kernel
def layers(
    x: pl.f32[N, K],
    W: pl.f32[K, M],
    b: pl.f32[M],
    V: pl.f32[M, L],
    c: pl.f32[L],
    h: pl.f32[N, M],
    y: pl.f32[N, L],
) -> None:
    for i in range(N):
        for j in range(M):
            h[i, j] = b[j]
            for k in range(K):
                h[i, j] += x[i, k] * W[k, j]
            h[i, j] = max(h[i, j], 0.0)
    for i in range(N):
        for j in range(L):
            y[i, j] = c[j]
            for k in range(M):
                y[i, j] += h[i, k] * V[k, j]


@pl.kernel
def quantised(x: pl.i32[N, K], W: pl.i32[K, M], b: pl.i32[M], y: pl.i32[N, M]) -> None:
    for i in range(N):
        for j in range(M):
            y[i, j] = b[j]
            for k in range(K):
                y[i, j] += x[i, k] * W[k, j]
            y[i, j] = min(max(y[i, j], -10000), 10000)


@pl.kernel
def gram(A: pl.f32[N, K], s: pl.f32, D: pl.f32[N, K], C: pl.f32[K, K]) -> None:
    for i in range(N):
        for k in range(K):
            D[i, k] = A[i, k] * s
    for i in range(K):
        for j in range(K):
            C[i, j] = 0.0
            for k in range(N):
                C[i, j] += D[k, i] * D[k, j]


@pl.kernel
def minus(A: pl.f32[N, K], B: pl.f32[K, M], C: pl.f32[N, M]) -> None:
    for i in range(N):
        for j in range(M):
            for k in range(K):
                C[i, j] -= A[i, k] * B[k, j]


@pl.kernel
def weighted(A: pl.f32[N, K], w: pl.f32[K], B: pl.f32[K, M], C: pl.f32[N, M]) -> None:
    for i in range(N):
        for j in range(M):
            C[i, j] = 0.0
            for k in range(K):
                C[i, j] += A[i, k] * w[k] * B[k, j]


@pl.kernel
def both_ways(alpha: pl.f32, A: pl.f32[N, K], B: pl.f32[N, K], C: pl.f32[N, N]) -> None:
    for i in range(N):
        for j in range(N):
            for k in range(K):
                C[i, j] += alpha * A[i, k] * B[j, k] + alpha * B[i, k] * A[j, k]


@pl.kernel
def two(x: pl.f32[N], y: pl.f32[N], u: pl.f32[N], v: pl.f32[N, M], w: pl.f32[N, M]) -> None:
    for i in range(N):
        u[i] = x[i] + y[i]
    for i in range(N):
        for j in range(M):
            w[i, j] = v[i, j] * x[i]


@pl.kernel
def spread_result(A: pl.f32[N, K], x: pl.f32[K], m: pl.f32[N], B: pl.f32[N, K]) -> None:
    for i in range(N):
        m[i] = 0.0
        for k in range(K):
            m[i] += A[i, k] * x[k]
    for i in range(N):
        for k in range(K):
            B[i, k] = A[i, k] - m[i]


@pl.kernel
def squares(A: pl.f32[N, K], m: pl.f32[N]) -> None:
    for i in range(N):
        m[i] = 1.0
        for k in range(K):
            m[i] += A[i, k] * A[i, k]


@pl.kernel
def row_sums(A: pl.f32[N, K], s: pl.f32, m: pl.f32[N]) -> None:
    for i in range(N):
        m[i] = s
        for k in range(K):
            m[i] += A[i, k]


@pl.kernel
def three_factors(x: pl.f32[N], y: pl.f32[M], z: pl.f32[L], C: pl.f32[N, M]) -> None:
    for i in range(N):
        for j in range(M):
            C[i, j] = 0.0
            for k in range(L):
                C[i, j] += x[i] * y[j] * z[k]


@pl.kernel
def two_loops(A: pl.f32[N, K, L], B: pl.f32[K, L], y: pl.f32[N]) -> None:
    for i in range(N):
        y[i] = 0.0
        for k in range(K):
            for m in range(L):
                y[i] += A[i, k, m] * B[k, m]


@pl.kernel
def padded(A: pl.f32[N, K], B: pl.f32[K, M], X: pl.f32[N, K], Y: pl.f32[K, M], C: pl.f32[N, M]) -> None:
    for i in range(N):
        for k in range(K):
            X[i, k] = A[i, k] + 1.0
    for k in range(K):
        for j in range(M):
            Y[k, j] = B[k, j] + 2.0
    for i in range(N):
        for j in range(M):
            C[i, j] = 0.0
            for k in range(K):
                C[i, j] += X[i, k] * Y[k, j]


@pl.kernel
def prefix(A: pl.f32[N, K], B: pl.f32[K, M], C: pl.f32[N, M], D: pl.f32[N, M]) -> None:
    for i in range(N):
        for j in range(M):
            C[i, j] = 0.0
            for k in range(K):
                C[i, j] += A[i, k] * B[k, j]
                D[i, j] = C[i, j]


@pl.kernel
def triangle(alpha: pl.f32, A: pl.f32[N, K], C: pl.f32[N, N]) -> None:
    for i in range(N):
        for j in range(i + 1):
            for k in range(K):
                C[i, j] += alpha * A[i, k] * A[j, k]


@pl.kernel
def border(A: pl.f32[N, K], B: pl.f32[K, M], C: pl.f32[N, M]) -> None:
    for i in range(N):
        for j in range(M):
            C[i, j] = 0.0
            for k in range(K):
                C[i, j] += A[i, k] * B[k, j]
    for j in range(M):
        C[0, j] = 1.0


@pl.kernel
def divided(A: pl.f32[N, K], B: pl.f32[K, M], s: pl.f32, C: pl.f32[N, M]) -> None:
    for i in range(N):
        for j in range(M):
            C[i, j] = 0.0
            for k in range(K):
                C[i, j] += A[i, k] * B[k, j]
            C[i, j] = C[i, j] / s


@pl.kernel
def chained(A: pl.i32[N, K], B: pl.i32[K, M], D: pl.i32[M, L], C: pl.i32[N, M], E: pl.i32[N, L]) -> None:
    for i in range(N):
        for j in range(M):
            C[i, j] = 0
            for k in range(K):
                C[i, j] += A[i, k] * B[k, j]
    for i in range(N):
        for j in range(L):
            E[i, j] = 0
            for k in range(M):
                E[i, j] += C[i, k] * D[k, j]


@pl.kernel
def padded_powers(A: pl.f32[N, K], B: pl.f32[K, M], X: pl.f32[N, K], Y: pl.f32[K, M], C: pl.f32[N, M]) -> None:
    for i in range(N):
        for k in range(K):
            X[i, k] = pl.exp(A[i, k])
    for k in range(K):
        for j in range(M):
            Y[k, j] = B[k, j] + 2.0
    for i in range(N):
        for j in range(M):
            C[i, j] = 0.0
            for k in range(K):
                C[i, j] += X[i, k] * Y[k, j]


@pl.kernel
def clean_factor(A: pl.f32[N, K], B: pl.f32[K, M], X: pl.f32[N, K], Y: pl.f32[K, M], C: pl.f32[N, M]) -> None:
    for i in range(N):
        for k in range(K):
            X[i, k] = pl.sin(pl.tanh(A[i, k]))
    for k in range(K):
        for j in range(M):
            Y[k, j] = B[k, j] + 2.0
    for i in range(N):
        for j in range(M):
            C[i, j] = 0.0
            for k in range(K):
                C[i, j] += X[i, k] * Y[k, j]
