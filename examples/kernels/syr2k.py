# SPDX-License-Identifier: Apache-2.0
"""A symmetric update of rank 2 M, C := alpha A B^T + alpha B A^T + beta C, of which only the lower triangle is
computed."""

from __future__ import annotations

import polyloom as pl

M, N = pl.sizes("M N")


@pl.kernel
def syr2k(alpha: pl.f32, beta: pl.f32, C: pl.f32[N, N], A: pl.f32[N, M], B: pl.f32[N, M]) -> None:
    for i in range(N):
        for j in range(i + 1):
            C[i, j] *= beta
        for k in range(M):
            for j in range(i + 1):
                C[i, j] += A[j, k] * alpha * B[i, k] + B[j, k] * alpha * A[i, k]
