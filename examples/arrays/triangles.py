# SPDX-License-Identifier: Apache-2.0
"""Products with triangles as whole arrays: the parts of a triangle that a loop would leave out are masked."""

from __future__ import annotations

import numpy as np

import polyloom as pl

M, N = pl.sizes("M N")


@pl.kernel
def syrk(alpha: pl.f32, beta: pl.f32, C: pl.f32[N, N], A: pl.f32[N, M]) -> None:
    C[:] = np.where(np.arange(N)[:, None] >= np.arange(N), beta * C + alpha * A @ A.T, C)


@pl.kernel
def syr2k(alpha: pl.f32, beta: pl.f32, C: pl.f32[N, N], A: pl.f32[N, M], B: pl.f32[N, M]) -> None:
    C[:] = np.where(np.arange(N)[:, None] >= np.arange(N), beta * C + alpha * (A @ B.T + B @ A.T), C)


@pl.kernel
def trmm(alpha: pl.f32, A: pl.f32[M, M], B: pl.f32[M, N]) -> None:
    B[:] = alpha * (B + np.tril(A, -1).T @ B)


@pl.kernel
def symm(alpha: pl.f32, beta: pl.f32, C: pl.f32[M, N], A: pl.f32[M, M], B: pl.f32[M, N]) -> None:
    C[:] = beta * C + alpha * ((np.tril(A) + np.tril(A, -1).T) @ B)
