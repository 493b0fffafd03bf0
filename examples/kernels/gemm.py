# SPDX-License-Identifier: Apache-2.0
"""Matrix product with scaling, C := alpha A B + beta C, in the order of PolyBench: a row of C is scaled, then rows of B
are added to it."""

from __future__ import annotations

import polyloom as pl

NI, NJ, NK = pl.sizes("NI NJ NK")


@pl.kernel
def gemm(alpha: pl.f32, beta: pl.f32, C: pl.f32[NI, NJ], A: pl.f32[NI, NK], B: pl.f32[NK, NJ]) -> None:
    for i in range(NI):
        for j in range(NJ):
            C[i, j] *= beta
        for k in range(NK):
            for j in range(NJ):
                C[i, j] += alpha * A[i, k] * B[k, j]
