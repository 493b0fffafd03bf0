# SPDX-License-Identifier: Apache-2.0
"""The transpose of what the same loops compute."""

from __future__ import annotations

import polyloom as pl

N, T = pl.sizes("N T")


@pl.kernel
def transposed(A: pl.f32[N, N]) -> None:
    for _t in range(T):
        for i in range(N):
            for j in range(N):
                A[i, j] = A[i, j] + A[j, i]
