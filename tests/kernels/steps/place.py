# SPDX-License-Identifier: Apache-2.0
"""Where `i` would begin to be counted, it is half of a size."""

from __future__ import annotations

import polyloom as pl

N = pl.size("N")


@pl.kernel
def place(x: pl.i32[N]) -> None:
    for i in range(N):
        if 2 * i >= N:
            x[i] = x[i] + i
