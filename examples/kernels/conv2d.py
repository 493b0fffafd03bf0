# SPDX-License-Identifier: Apache-2.0
"""The convolution of an image with a window of 3 x 3 weights, where the window fits: the result is 2 rows and 2 columns
smaller."""

from __future__ import annotations

import polyloom as pl

N, M = pl.sizes("N M")


@pl.kernel
def conv2d(x: pl.f32[N + 2, M + 2], w: pl.f32[3, 3], y: pl.f32[N, M]) -> None:
    for i in range(N):
        for j in range(M):
            y[i, j] = 0.0
            for k in range(3):
                for m in range(3):
                    y[i, j] += w[k, m] * x[i + k, j + m]
