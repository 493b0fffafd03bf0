# SPDX-License-Identifier: Apache-2.0
"""Gathers in kernels of whole arrays: elements at indices that are data."""

# pyright: reportIndexIssue=false, reportArgumentType=false, reportCallIssue=false, reportAttributeAccessIssue=false
# pyright: reportUnknownVariableType=false, reportUnknownMemberType=false, reportOperatorIssue=false

from __future__ import annotations

from typing import Any

import numpy as np

import polyloom as pl

N, M, K = pl.sizes("N M K")


@pl.kernel
def elements(x: pl.f32[N], p: pl.i32[K]) -> Any:
    return x[p] * 2.0


@pl.kernel
def rows(A: pl.f32[N, M], p: pl.i16[K]) -> Any:
    return A[p].sum(axis=1), A[np.abs(p).astype(np.uint8)[::-1], 1:]


@pl.kernel
def columns(A: pl.f32[N, M], p: pl.i32[K]) -> Any:
    return A[:, 1:][:, p - 1], A[1, p]


@pl.kernel
def tables(A: pl.f32[N, M], p: pl.i32[K, M]) -> Any:
    return A[::2][p // 2], A[p[:, 0], 0] + A[1, p[:, 1]][::-1]


@pl.kernel
def in_place(x: pl.f32[N], p: pl.i32[N], y: pl.f32[N]) -> None:
    x[:] = x[p]
    y[1:] = y[p[p]][:-1]


@pl.kernel
def parts(x: pl.f32[N], p: pl.i32[K]) -> Any:
    return np.concatenate((x[p], x)), np.pad(x[p], 1), x[p][:, None] * x


@pl.kernel
def single(A: pl.f32[N, M], x: pl.f32[N], p: pl.i32[K]) -> Any:
    return A[x.argmax()], A[p[0], p[1]] + x[p[-1]]


@pl.kernel
def guarded(x: pl.f32[N], p: pl.i32[K], q: pl.i32[1]) -> Any:
    first = x[q[0]] if q[0] < 1 else 0.0
    if q[0] < 1:
        x[0] += x[q[0]]
    return first + x[p]


@pl.kernel
def interpolation(x: pl.f32[N], t: pl.f32[K]) -> Any:
    low = np.floor(t).astype(np.int32)
    part = t - low
    return x[low] * (1.0 - part) + x[low + 1] * part
