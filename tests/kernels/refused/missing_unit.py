# SPDX-License-Identifier: Apache-2.0
"""A comparison, for which the small machine has no unit."""

from __future__ import annotations

import polyloom as pl

N = pl.size("N")


@pl.kernel
def missing_unit(x: pl.f32[N], y: pl.f32[N]) -> None:
    for i in range(N):
        y[i] = max(x[i], 0.0)
