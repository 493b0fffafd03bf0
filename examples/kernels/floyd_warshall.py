# SPDX-License-Identifier: Apache-2.0
"""Lengths of shortest paths between all pairs: the loop over k is one of steps."""

from __future__ import annotations

import polyloom as pl

N = pl.sizes("N")


@pl.kernel
def floyd_warshall(path: pl.i32[N, N]) -> None:
    for k in range(N):
        for i in range(N):
            for j in range(N):
                path[i, j] = min(path[i, j], path[i, k] + path[k, j])
