# SPDX-License-Identifier: Apache-2.0
"""Iterations do not know their place."""

from __future__ import annotations

import polyloom as pl

N = pl.size("N")


@pl.kernel
def place(x: pl.i32[N]) -> None:
    for i in range(N):
        x[i] = x[i] + i
