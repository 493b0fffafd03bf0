# SPDX-License-Identifier: Apache-2.0
"""Gram-Schmidt orthogonalisation: A = Q R, column by column; A is used up."""

from __future__ import annotations

import polyloom as pl

M, N = pl.sizes("M N")


@pl.kernel
def gramschmidt(A: pl.f32[M, N], R: pl.f32[N, N], Q: pl.f32[M, N]) -> None:
    for k in range(N):
        norm = 0.0
        for i in range(M):
            norm += A[i, k] * A[i, k]
        R[k, k] = pl.sqrt(norm)
        for i in range(M):
            Q[i, k] = A[i, k] / R[k, k]
        for j in range(k + 1, N):
            R[k, j] = 0.0
            for i in range(M):
                R[k, j] += Q[i, k] * A[i, j]
            for i in range(M):
                A[i, j] = A[i, j] - Q[i, k] * R[k, j]
