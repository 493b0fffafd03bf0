# SPDX-License-Identifier: Apache-2.0
"""An f32 sum over two loops, in the order of the loops."""

from __future__ import annotations

import polyloom as pl

N, M, K = pl.sizes("N M K")


@pl.kernel
def two_loops(A: pl.f32[N, M, K], y: pl.f32[N]) -> None:
    for i in range(N):
        for j in range(M):
            for k in range(K):
                y[i] += A[i, j, k]
