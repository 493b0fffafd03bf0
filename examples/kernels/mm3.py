# SPDX-License-Identifier: Apache-2.0
"""Three matrix products, G := (A B) (C D): the factors E and F of the last one are products themselves."""

from __future__ import annotations

import polyloom as pl

NI, NJ, NK, NL, NM = pl.sizes("NI NJ NK NL NM")


@pl.kernel
def mm3(
    E: pl.f32[NI, NJ],
    A: pl.f32[NI, NK],
    B: pl.f32[NK, NJ],
    F: pl.f32[NJ, NL],
    C: pl.f32[NJ, NM],
    D: pl.f32[NM, NL],
    G: pl.f32[NI, NL],
) -> None:
    for i in range(NI):
        for j in range(NJ):
            E[i, j] = 0.0
            for k in range(NK):
                E[i, j] += A[i, k] * B[k, j]
    for i in range(NJ):
        for j in range(NL):
            F[i, j] = 0.0
            for k in range(NM):
                F[i, j] += C[i, k] * D[k, j]
    for i in range(NI):
        for j in range(NL):
            G[i, j] = 0.0
            for k in range(NJ):
                G[i, j] += E[i, k] * F[k, j]
