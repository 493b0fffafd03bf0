# SPDX-License-Identifier: Apache-2.0
"""Jacobi iteration with a stencil of three points: from A to B and back in each of TSTEPS steps."""

from __future__ import annotations

import polyloom as pl

TSTEPS, N = pl.sizes("TSTEPS N")


@pl.kernel
def jacobi1d(A: pl.f32[N], B: pl.f32[N]) -> None:
    for _t in range(TSTEPS):
        for i in range(1, N - 1):
            B[i] = 0.33333 * (A[i - 1] + A[i] + A[i + 1])
        for i in range(1, N - 1):
            A[i] = 0.33333 * (B[i - 1] + B[i] + B[i + 1])
