# SPDX-License-Identifier: Apache-2.0
"""The two products of a step of the biconjugate gradient method, q := A p and s := A^T r, in one pass over A."""

from __future__ import annotations

import polyloom as pl

M, N = pl.sizes("M N")


@pl.kernel
def bicg(A: pl.f32[N, M], s: pl.f32[M], q: pl.f32[N], p: pl.f32[M], r: pl.f32[N]) -> None:
    for i in range(M):
        s[i] = 0.0
    for i in range(N):
        q[i] = 0.0
        for j in range(M):
            s[j] += r[i] * A[i, j]
            q[i] += A[i, j] * p[j]
