# SPDX-License-Identifier: Apache-2.0
"""The most pairs of an RNA's bases: an element needs a row to its left and a column below it."""

from __future__ import annotations

import polyloom as pl

N = pl.size("N")


@pl.kernel
def nussinov(seq: pl.i32[N], table: pl.i32[N, N]) -> None:
    for i in range(N - 1, -1, -1):
        for j in range(i + 1, N):
            table[i, j] = max(table[i, j], table[i, j - 1])
            if i + 1 < N:
                table[i, j] = max(table[i, j], table[i + 1, j])
                if i < j - 1:
                    table[i, j] = max(table[i, j], table[i + 1, j - 1] + (1 if seq[i] + seq[j] == 3 else 0))
                else:
                    table[i, j] = max(table[i, j], table[i + 1, j - 1])
            for k in range(i + 1, j):
                table[i, j] = max(table[i, j], table[i, k] + table[k + 1, j])
