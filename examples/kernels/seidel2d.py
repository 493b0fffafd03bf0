# SPDX-License-Identifier: Apache-2.0
"""Gauss-Seidel iteration with a stencil of nine points in the plane, in place: new values are used as soon as they
exist."""

from __future__ import annotations

import polyloom as pl

TSTEPS, N = pl.sizes("TSTEPS N")


@pl.kernel
def seidel2d(A: pl.f32[N, N]) -> None:
    for _t in range(TSTEPS):
        for i in range(1, N - 1):
            for j in range(1, N - 1):
                A[i, j] = (
                    A[i - 1, j - 1]
                    + A[i - 1, j]
                    + A[i - 1, j + 1]
                    + A[i, j - 1]
                    + A[i, j]
                    + A[i, j + 1]
                    + A[i + 1, j - 1]
                    + A[i + 1, j]
                    + A[i + 1, j + 1]
                ) / 9.0
