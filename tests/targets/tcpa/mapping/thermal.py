# SPDX-License-Identifier: Apache-2.0
"""Stencils whose borders and corners are branches of a chain of conditions, each with a formula of its own."""

from __future__ import annotations

import polyloom as pl

N, M = pl.size("N"), pl.size("M")


@pl.kernel
def thermal(t: pl.f32[N, M], p: pl.f32[N, M], r: pl.f32[N, M], x: pl.f32, y: pl.f32, z: pl.f32, amb: pl.f32) -> None:
    for i in range(N):
        for j in range(M):
            c = t[i, j]
            if i == 0 and j == 0:
                d = p[i, j] + (t[i, j + 1] - c) * x + (t[i + 1, j] - c) * y + (amb - c) * z
            elif i == 0 and j == M - 1:
                d = p[i, j] + (t[i, j - 1] - c) * x + (t[i + 1, j] - c) * y + (amb - c) * z
            elif i == N - 1 and j == M - 1:
                d = p[i, j] + (t[i, j - 1] - c) * x + (t[i - 1, j] - c) * y + (amb - c) * z
            elif i == N - 1 and j == 0:
                d = p[i, j] + (t[i, j + 1] - c) * x + (t[i - 1, j] - c) * y + (amb - c) * z
            elif i == 0:
                d = p[i, j] + (t[i, j + 1] + t[i, j - 1] - 2 * c) * x + (t[i + 1, j] - c) * y + (amb - c) * z
            elif j == M - 1:
                d = p[i, j] + (t[i + 1, j] + t[i - 1, j] - 2 * c) * y + (t[i, j - 1] - c) * x + (amb - c) * z
            elif i == N - 1:
                d = p[i, j] + (t[i, j + 1] + t[i, j - 1] - 2 * c) * x + (t[i - 1, j] - c) * y + (amb - c) * z
            elif j == 0:
                d = p[i, j] + (t[i + 1, j] + t[i - 1, j] - 2 * c) * y + (t[i, j + 1] - c) * x + (amb - c) * z
            else:
                u = t[i + 1, j] + t[i - 1, j]
                v = t[i, j + 1] + t[i, j - 1]
                d = p[i, j] + (u - 2 * c) * y + (v - 2 * c) * x + (amb - c) * z
            r[i, j] = c + d
