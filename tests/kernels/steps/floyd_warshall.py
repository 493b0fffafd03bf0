# SPDX-License-Identifier: Apache-2.0
"""All shortest paths: step k reads row k and column k of what step k - 1 left."""

from __future__ import annotations

import polyloom as pl

N = pl.size("N")


@pl.kernel
def floyd_warshall(path: pl.i32[N, N]) -> None:
    for k in range(N):
        for i in range(N):
            for j in range(N):
                path[i, j] = min(path[i, j], path[i, k] + path[k, j])
