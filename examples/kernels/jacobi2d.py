# SPDX-License-Identifier: Apache-2.0
"""Jacobi iteration with a stencil of five points in the plane: from A to B and back in each of TSTEPS steps."""

from __future__ import annotations

import polyloom as pl

TSTEPS, N = pl.sizes("TSTEPS N")


@pl.kernel
def jacobi2d(A: pl.f32[N, N], B: pl.f32[N, N]) -> None:
    for _t in range(TSTEPS):
        for i in range(1, N - 1):
            for j in range(1, N - 1):
                B[i, j] = 0.2 * (A[i, j] + A[i, j - 1] + A[i, j + 1] + A[i + 1, j] + A[i - 1, j])
        for i in range(1, N - 1):
            for j in range(1, N - 1):
                A[i, j] = 0.2 * (B[i, j] + B[i, j - 1] + B[i, j + 1] + B[i + 1, j] + B[i - 1, j])
