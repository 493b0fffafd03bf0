# SPDX-License-Identifier: Apache-2.0
"""Two updates of rank one and two products with the result: A := A + u1 v1^T + u2 v2^T, x := x + beta A^T y + z, w := w
+ alpha A x."""

from __future__ import annotations

import polyloom as pl

N = pl.sizes("N")


@pl.kernel
def gemver(
    alpha: pl.f32,
    beta: pl.f32,
    A: pl.f32[N, N],
    u1: pl.f32[N],
    v1: pl.f32[N],
    u2: pl.f32[N],
    v2: pl.f32[N],
    w: pl.f32[N],
    x: pl.f32[N],
    y: pl.f32[N],
    z: pl.f32[N],
) -> None:
    for i in range(N):
        for j in range(N):
            A[i, j] += u1[i] * v1[j] + u2[i] * v2[j]
    for i in range(N):
        for j in range(N):
            x[i] += beta * A[j, i] * y[j]
    for i in range(N):
        x[i] += z[i]
    for i in range(N):
        for j in range(N):
            w[i] += alpha * A[i, j] * x[j]
