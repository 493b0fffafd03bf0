# SPDX-License-Identifier: Apache-2.0
"""A matrix times one vector and its transpose times another one: x1 := x1 + A y1, x2 := x2 + A^T y2."""

from __future__ import annotations

import polyloom as pl

N = pl.sizes("N")


@pl.kernel
def mvt(x1: pl.f32[N], x2: pl.f32[N], y1: pl.f32[N], y2: pl.f32[N], A: pl.f32[N, N]) -> None:
    for i in range(N):
        for j in range(N):
            x1[i] += A[i, j] * y1[j]
    for i in range(N):
        for j in range(N):
            x2[i] += A[j, i] * y2[j]
