# SPDX-License-Identifier: Apache-2.0
"""Local alignment of two sequences with a linear penalty for gaps: the whole matrix of scores, and its maximum."""

from __future__ import annotations

import polyloom as pl

N, M = pl.sizes("N M")
MATCH, MISMATCH, GAP = 3, -3, 2


@pl.kernel
def smith_waterman(a: pl.i8[N], b: pl.i8[M], H: pl.i32[N + 1, M + 1], best: pl.i32[1]) -> None:
    best[0] = 0
    for i in range(N + 1):
        H[i, 0] = 0
    for j in range(1, M + 1):
        H[0, j] = 0
    for i in range(1, N + 1):
        for j in range(1, M + 1):
            score = MATCH if a[i - 1] == b[j - 1] else MISMATCH
            H[i, j] = max(H[i - 1, j - 1] + score, H[i - 1, j] - GAP, H[i, j - 1] - GAP, 0)
            best[0] = max(best[0], H[i, j])
