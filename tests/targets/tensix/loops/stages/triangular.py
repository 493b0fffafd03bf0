# SPDX-License-Identifier: Apache-2.0
"""Kernels over triangles for tests: bounds of loops on results, on sums, on both; bands, and what has no masks."""

from __future__ import annotations

import polyloom as pl

M, N = pl.sizes("M N")


@pl.kernel
def both_bounds(A: pl.f32[M, M], B: pl.f32[M, M], C: pl.f32[M, M]) -> None:
    for i in range(M):
        for j in range(M):
            C[i, j] = 0.0
            for k in range(min(i, j) + 1):
                C[i, j] += A[i, k] * B[k, j]


@pl.kernel
def band(A: pl.f32[M, N], B: pl.f32[N, M], C: pl.f32[M, M]) -> None:
    for i in range(M):
        for j in range(max(0, i - 2), min(M, i + 3)):
            C[i, j] = 0.0
            for k in range(N):
                C[i, j] += A[i, k] * B[k, j]


@pl.kernel
def upper_matvec(A: pl.f32[M, M], x: pl.f32[M], y: pl.f32[M]) -> None:
    for i in range(M):
        y[i] = 0.0
        for k in range(i, M):
            y[i] += A[i, k] * x[k]


@pl.kernel
def lower_product(A: pl.f32[M, M], B: pl.f32[M, M], C: pl.f32[M, M]) -> None:
    for i in range(M):
        for j in range(i + 1):
            C[i, j] = 0.0
            for k in range(j, i + 1):
                C[i, j] += A[i, k] * B[k, j]


@pl.kernel
def chain(A: pl.f32[M, M], B: pl.f32[M, N], C: pl.f32[M, N], D: pl.f32[M, N]) -> None:
    for i in range(M):
        for j in range(N):
            C[i, j] = 0.0
            for k in range(i + 1):
                C[i, j] += A[i, k] * B[k, j]
    for i in range(M):
        for j in range(N):
            D[i, j] = 0.0
            for k in range(i, M):
                D[i, j] += A[k, i] * C[k, j]


@pl.kernel
def reciprocals(A: pl.f32[M, M], B: pl.f32[M, N], L: pl.f32[M, M], C: pl.f32[M, N]) -> None:
    """A computed factor, which is no number outside of its triangle."""
    for i in range(M):
        for k in range(i + 1):
            L[i, k] = 1.0 / A[i, k]
    for i in range(M):
        for j in range(N):
            C[i, j] = 0.0
            for k in range(i + 1):
                C[i, j] += L[i, k] * B[k, j]


@pl.kernel
def integers(A: pl.i32[M, N], B: pl.i32[N, M], C: pl.i32[M, M]) -> None:
    for i in range(M):
        for j in range(i + 1):
            for k in range(N):
                C[i, j] -= A[i, k] * B[k, j]


@pl.kernel
def three_ways(A: pl.f32[M, M], B: pl.f32[M, M], C: pl.f32[M, M]) -> None:
    for i in range(M):
        for j in range(M):
            C[i, j] = 0.0
            for k in range(M):
                if k <= i + j:
                    C[i, j] += A[i, k] * B[k, j]


@pl.kernel
def largest_terms(A: pl.f32[M, N], B: pl.f32[N, M], C: pl.f32[M, M]) -> None:
    for i in range(M):
        for j in range(i + 1):
            C[i, j] = 0.0
            for k in range(N):
                C[i, j] += max(A[i, k] * B[k, j], 0.0)


@pl.kernel
def windows(x: pl.f32[N + M], h: pl.f32[M], y: pl.f32[N]) -> None:
    for i in range(N):
        y[i] = 0.0
        for k in range(M):
            y[i] += h[k] * x[i + k]


@pl.kernel
def running(A: pl.f32[M, N], B: pl.f32[N, M], C: pl.f32[M, M], D: pl.f32[M, M]) -> None:
    for i in range(M):
        for j in range(i + 1):
            C[i, j] = 0.0
            for k in range(N):
                C[i, j] += A[i, k] * B[k, j]
                D[i, j] = C[i, j]
                if k == 2:
                    D[j, i] = C[i, j]


@pl.kernel
def from_one(A: pl.f32[M, M], B: pl.f32[M, M], C: pl.f32[M, M]) -> None:
    for i in range(M):
        for j in range(max(0, i - 3), i + 1):
            C[i, j] = 0.0
            for k in range(1, M):
                C[i, j] -= A[i, k] * B[k, j]
            C[i, j] = C[i, j]


@pl.kernel
def correlation(float_n: pl.f32, data: pl.f32[N, M], corr: pl.f32[M, M], mean: pl.f32[M], stddev: pl.f32[M]) -> None:
    """As PolyBench has it: columns of data without their means, over their standard deviations, and their products."""
    for j in range(M):
        mean[j] = 0.0
        for i in range(N):
            mean[j] += data[i, j]
        mean[j] /= float_n
    for j in range(M):
        stddev[j] = 0.0
        for i in range(N):
            stddev[j] += (data[i, j] - mean[j]) * (data[i, j] - mean[j])
        stddev[j] /= float_n
        stddev[j] = pl.sqrt(stddev[j])
        stddev[j] = 1.0 if stddev[j] <= 0.1 else stddev[j]
    for i in range(N):
        for j in range(M):
            data[i, j] -= mean[j]
            data[i, j] /= pl.sqrt(float_n) * stddev[j]
    for i in range(M - 1):
        corr[i, i] = 1.0
        for j in range(i + 1, M):
            corr[i, j] = 0.0
            for k in range(N):
                corr[i, j] += data[k, i] * data[k, j]
            corr[j, i] = corr[i, j]
    corr[M - 1, M - 1] = 1.0
