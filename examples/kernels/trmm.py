# SPDX-License-Identifier: Apache-2.0
"""The product with a triangular matrix in place, B := alpha A^T B, where A is lower triangular with ones on its
diagonal."""

from __future__ import annotations

import polyloom as pl

M, N = pl.sizes("M N")


@pl.kernel
def trmm(alpha: pl.f32, A: pl.f32[M, M], B: pl.f32[M, N]) -> None:
    for i in range(M):
        for j in range(N):
            for k in range(i + 1, M):
                B[i, j] += A[k, i] * B[k, j]
            B[i, j] = alpha * B[i, j]
