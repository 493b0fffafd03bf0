# SPDX-License-Identifier: Apache-2.0
"""The kernels of whole arrays with which the tutorial begins."""

from __future__ import annotations

from typing import Any

import polyloom as pl

N, M = pl.sizes("N M")


@pl.kernel
def matvec(A: pl.f32[N, M], x: pl.f32[M], y: pl.f32[N]) -> None:
    y[:] = A @ x


@pl.kernel
def covariance(data: pl.f32[N, M]) -> Any:
    centred = data - data.mean(axis=0)
    return centred.T @ centred / (N - 1.0)
