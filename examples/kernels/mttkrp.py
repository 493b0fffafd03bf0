# SPDX-License-Identifier: Apache-2.0
"""A three-dimensional tensor, unfolded, times the Khatri-Rao product of two matrices, as in the alternating least
squares of a tensor decomposition."""

from __future__ import annotations

import polyloom as pl

NI, NJ, NK, NL = pl.sizes("NI NJ NK NL")


@pl.kernel
def mttkrp(A: pl.f32[NI, NJ], B: pl.f32[NI, NK, NL], C: pl.f32[NK, NJ], D: pl.f32[NL, NJ]) -> None:
    for i in range(NI):
        for j in range(NJ):
            A[i, j] = 0.0
            for k in range(NK):
                for m in range(NL):
                    A[i, j] += B[i, k, m] * C[k, j] * D[m, j]
