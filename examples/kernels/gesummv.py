# SPDX-License-Identifier: Apache-2.0
"""The weighted sum of two matrix-vector products, y := alpha A x + beta B x."""

from __future__ import annotations

import polyloom as pl

N = pl.sizes("N")


@pl.kernel
def gesummv(
    alpha: pl.f32, beta: pl.f32, A: pl.f32[N, N], B: pl.f32[N, N], tmp: pl.f32[N], x: pl.f32[N], y: pl.f32[N]
) -> None:
    for i in range(N):
        tmp[i] = 0.0
        y[i] = 0.0
        for j in range(N):
            tmp[i] += A[i, j] * x[j]
            y[i] += B[i, j] * x[j]
        y[i] = alpha * tmp[i] + beta * y[i]
