# SPDX-License-Identifier: Apache-2.0
"""Kernels of whole arrays, as NumPy has them: a product, a convolution, a stencil, a covariance, a layer."""

from __future__ import annotations

from typing import Any

import numpy as np

import polyloom as pl

NI, NJ, NK, N, M, TSTEPS = pl.sizes("NI NJ NK N M TSTEPS")


@pl.kernel
def gemm(alpha: pl.f32, beta: pl.f32, C: pl.f32[NI, NJ], A: pl.f32[NI, NK], B: pl.f32[NK, NJ]) -> None:
    C[:] = alpha * A @ B + beta * C


@pl.kernel
def conv2d(x: pl.f32[N + 2, M + 2], w: pl.f32[3, 3], y: pl.f32[N, M]) -> None:
    y[:] = 0.0
    for k in range(3):
        for m in range(3):
            y += w[k, m] * x[k : k + N, m : m + M]


@pl.kernel
def jacobi1d(A: pl.f32[N], B: pl.f32[N]) -> None:
    for _t in range(TSTEPS):
        B[1:-1] = 0.33333 * (A[:-2] + A[1:-1] + A[2:])
        A[1:-1] = 0.33333 * (B[:-2] + B[1:-1] + B[2:])


@pl.kernel
def covariance(data: pl.f32[N, M]) -> Any:
    centred = data - data.mean(axis=0)
    return centred.T @ centred / (N - 1.0)


def softmax(x: Any, axis: int = -1) -> Any:
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


@pl.kernel
def layer(x: pl.f32[N, NK], w: pl.f32[NK, M], b: pl.f32[M]) -> Any:
    return softmax(np.maximum(x @ w + b, 0.0))
