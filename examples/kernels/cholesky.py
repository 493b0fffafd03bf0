# SPDX-License-Identifier: Apache-2.0
"""The Cholesky factor of a positive definite matrix, in place of its lower triangle, row by row."""

from __future__ import annotations

import polyloom as pl

N = pl.sizes("N")


@pl.kernel
def cholesky(A: pl.f32[N, N]) -> None:
    for i in range(N):
        for j in range(i):
            for k in range(j):
                A[i, j] -= A[i, k] * A[j, k]
            A[i, j] /= A[j, j]
        for k in range(i):
            A[i, i] -= A[i, k] * A[i, k]
        A[i, i] = pl.sqrt(A[i, i])
