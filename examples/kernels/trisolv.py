# SPDX-License-Identifier: Apache-2.0
"""Forward substitution: the solution x of L x = b for a lower triangular matrix L."""

from __future__ import annotations

import polyloom as pl

N = pl.sizes("N")


@pl.kernel
def trisolv(L: pl.f32[N, N], x: pl.f32[N], b: pl.f32[N]) -> None:
    for i in range(N):
        x[i] = b[i]
        for j in range(i):
            x[i] -= L[i, j] * x[j]
        x[i] /= L[i, i]
