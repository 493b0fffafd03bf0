# SPDX-License-Identifier: Apache-2.0
"""The product with a symmetric matrix of which the lower triangle is given, C := alpha A B + beta C: each element of A
serves two rows of C."""

from __future__ import annotations

import polyloom as pl

M, N = pl.sizes("M N")


@pl.kernel
def symm(alpha: pl.f32, beta: pl.f32, C: pl.f32[M, N], A: pl.f32[M, M], B: pl.f32[M, N]) -> None:
    for i in range(M):
        for j in range(N):
            above = 0.0
            for k in range(i):
                C[k, j] += alpha * B[i, j] * A[i, k]
                above += B[k, j] * A[i, k]
            C[i, j] = beta * C[i, j] + alpha * B[i, j] * A[i, i] + alpha * above
