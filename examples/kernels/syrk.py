# SPDX-License-Identifier: Apache-2.0
"""A symmetric update of rank M, C := alpha A A^T + beta C, of which only the lower triangle is computed."""

from __future__ import annotations

import polyloom as pl

M, N = pl.sizes("M N")


@pl.kernel
def syrk(alpha: pl.f32, beta: pl.f32, C: pl.f32[N, N], A: pl.f32[N, M]) -> None:
    for i in range(N):
        for j in range(i + 1):
            C[i, j] *= beta
        for k in range(M):
            for j in range(i + 1):
                C[i, j] += alpha * A[i, k] * A[j, k]
