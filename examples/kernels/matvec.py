# SPDX-License-Identifier: Apache-2.0
"""A matrix times a vector, y := A x."""

from __future__ import annotations

import polyloom as pl

N, M = pl.sizes("N M")


@pl.kernel
def matvec(A: pl.f32[N, M], x: pl.f32[M], y: pl.f32[N]) -> None:
    for i in range(N):
        y[i] = 0.0
        for j in range(M):
            y[i] += A[i, j] * x[j]
