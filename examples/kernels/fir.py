# SPDX-License-Identifier: Apache-2.0
"""A filter with finite impulse response: T coefficients u, samples before the first one count as 0."""

from __future__ import annotations

import polyloom as pl

N, T = pl.sizes("N T")


@pl.kernel
def fir(u: pl.f32[T], x: pl.f32[N], y: pl.f32[N]) -> None:
    for i in range(N):
        y[i] = 0.0
        for j in range(min(T, i + 1)):
            y[i] += u[j] * x[i - j]
