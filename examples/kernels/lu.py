# SPDX-License-Identifier: Apache-2.0
"""LU decomposition without pivoting, in place: row by row, first the part of L, then the part of U."""

from __future__ import annotations

import polyloom as pl

N = pl.sizes("N")


@pl.kernel
def lu(A: pl.f32[N, N]) -> None:
    for i in range(N):
        for j in range(i):
            for k in range(j):
                A[i, j] -= A[i, k] * A[k, j]
            A[i, j] /= A[j, j]
        for j in range(i, N):
            for k in range(i):
                A[i, j] -= A[i, k] * A[k, j]
