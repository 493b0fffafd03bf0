# SPDX-License-Identifier: Apache-2.0
# pyright: reportArgumentType=false
"""Rows of a sparse matrix: where they begin and end, only data tell."""

from __future__ import annotations

import polyloom as pl

N, M = pl.sizes("N M")


@pl.kernel
def data_bounds(first: pl.i32[N + 1], values: pl.f32[M], y: pl.f32[N]) -> None:
    for i in range(N):
        for k in range(first[i], first[i + 1]):
            y[i] += values[k]
