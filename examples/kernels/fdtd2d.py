# SPDX-License-Identifier: Apache-2.0
"""Finite differences in the time domain in the plane: the electric field (ex, ey) from the magnetic field hz and back,
driven by fict at one border."""

from __future__ import annotations

import polyloom as pl

TMAX, NX, NY = pl.sizes("TMAX NX NY")


@pl.kernel
def fdtd2d(ex: pl.f32[NX, NY], ey: pl.f32[NX, NY], hz: pl.f32[NX, NY], fict: pl.f32[TMAX]) -> None:
    assert NX >= 1
    for t in range(TMAX):
        for j in range(NY):
            ey[0, j] = fict[t]
        for i in range(1, NX):
            for j in range(NY):
                ey[i, j] -= 0.5 * (hz[i, j] - hz[i - 1, j])
        for i in range(NX):
            for j in range(1, NY):
                ex[i, j] -= 0.5 * (hz[i, j] - hz[i, j - 1])
        for i in range(NX - 1):
            for j in range(NY - 1):
                hz[i, j] -= 0.7 * (ex[i, j + 1] - ex[i, j] + ey[i + 1, j] - ey[i, j])
