# SPDX-License-Identifier: Apache-2.0
"""The multiplication of every row of a three-dimensional array with one matrix, in place by way of a row of sums
(multiresolution analysis)."""

from __future__ import annotations

import polyloom as pl

NQ, NR, NP = pl.sizes("NQ NR NP")


@pl.kernel
def doitgen(A: pl.f32[NR, NQ, NP], C4: pl.f32[NP, NP], total: pl.f32[NP]) -> None:
    for r in range(NR):
        for q in range(NQ):
            for p in range(NP):
                total[p] = 0.0
                for s in range(NP):
                    total[p] += A[r, q, s] * C4[s, p]
            for p in range(NP):
                A[r, q, p] = total[p]
