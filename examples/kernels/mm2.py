# SPDX-License-Identifier: Apache-2.0
"""Two matrix products one after another, D := alpha A B C + beta D; the first product is kept in tmp."""

from __future__ import annotations

import polyloom as pl

NI, NJ, NK, NL = pl.sizes("NI NJ NK NL")


@pl.kernel
def mm2(
    alpha: pl.f32,
    beta: pl.f32,
    tmp: pl.f32[NI, NJ],
    A: pl.f32[NI, NK],
    B: pl.f32[NK, NJ],
    C: pl.f32[NJ, NL],
    D: pl.f32[NI, NL],
) -> None:
    for i in range(NI):
        for j in range(NJ):
            tmp[i, j] = 0.0
            for k in range(NK):
                tmp[i, j] += alpha * A[i, k] * B[k, j]
    for i in range(NI):
        for j in range(NL):
            D[i, j] *= beta
            for k in range(NJ):
                D[i, j] += tmp[i, k] * C[k, j]
