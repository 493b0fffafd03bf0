# SPDX-License-Identifier: Apache-2.0
"""Durbin's recursion: the solution y of the Yule-Walker equations of a Toeplitz matrix of entries r; z is room."""

from __future__ import annotations

import polyloom as pl

N = pl.sizes("N")


@pl.kernel
def durbin(r: pl.f32[N], y: pl.f32[N], z: pl.f32[N]) -> None:
    assert N >= 1
    y[0] = -r[0]
    beta = 1.0
    alpha = -r[0]
    for k in range(1, N):
        beta = (1.0 - alpha * alpha) * beta
        total = 0.0
        for i in range(k):
            total += r[k - i - 1] * y[i]
        alpha = -(r[k] + total) / beta
        for i in range(k):
            z[i] = y[i] + alpha * y[k - i - 1]
        for i in range(k):
            y[i] = z[i]
        y[k] = alpha
