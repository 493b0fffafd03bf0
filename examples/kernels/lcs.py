# SPDX-License-Identifier: Apache-2.0
"""The length of the longest common subsequence of every pair of prefixes of two sequences."""

from __future__ import annotations

import polyloom as pl

N, M = pl.sizes("N M")


@pl.kernel
def lcs(a: pl.i8[N], b: pl.i8[M], L: pl.i32[N + 1, M + 1]) -> None:
    for i in range(N + 1):
        L[i, 0] = 0
    for j in range(1, M + 1):
        L[0, j] = 0
    for i in range(1, N + 1):
        for j in range(1, M + 1):
            if a[i - 1] == b[j - 1]:
                L[i, j] = L[i - 1, j - 1] + 1
            else:
                L[i, j] = max(L[i - 1, j], L[i, j - 1])
