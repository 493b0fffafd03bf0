# SPDX-License-Identifier: Apache-2.0
"""A sweep up and a sweep down in every step of time: the second one needs what the first one has left along the way."""

from __future__ import annotations

import polyloom as pl

T, N = pl.sizes("T N")


@pl.kernel
def opposite(a: pl.i32[N], b: pl.i32[N]) -> None:
    for _t in range(T):
        for i in range(1, N):
            b[i] = b[i - 1] + a[i]
        for j in range(N - 2, -1, -1):
            a[j] = a[j + 1] + b[j]
