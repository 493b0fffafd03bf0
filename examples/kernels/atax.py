# SPDX-License-Identifier: Apache-2.0
"""A matrix and its transpose times a vector, y := A^T (A x): every row of A is used twice, for an element of A x and
for all of y."""

from __future__ import annotations

import polyloom as pl

M, N = pl.sizes("M N")


@pl.kernel
def atax(A: pl.f32[M, N], x: pl.f32[N], y: pl.f32[N], tmp: pl.f32[M]) -> None:
    for i in range(N):
        y[i] = 0.0
    for i in range(M):
        tmp[i] = 0.0
        for j in range(N):
            tmp[i] += A[i, j] * x[j]
        for j in range(N):
            y[j] += A[i, j] * tmp[i]
