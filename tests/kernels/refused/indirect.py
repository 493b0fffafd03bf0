# SPDX-License-Identifier: Apache-2.0
# pyright: reportArgumentType=false
"""A gather: which element is read, only data tell."""

from __future__ import annotations

import polyloom as pl

N = pl.size("N")


@pl.kernel
def indirect(x: pl.f32[N], index: pl.i32[N], y: pl.f32[N]) -> None:
    for i in range(N):
        y[i] = x[index[i]]
