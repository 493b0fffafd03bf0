# SPDX-License-Identifier: Apache-2.0
"""Nests of which each has what another has not, and inputs for them."""

from __future__ import annotations

from typing import Any

import numpy as np

import polyloom as pl
from polyloom.ir.nest import Nest
from polyloom.ir.numbers import NUMPY
from polyloom.transform.parallel.machine import Machine

N, M = pl.sizes("N M")
EIGHT_LANES = Machine(workers=8, lanes=8, line=64, sharers=2, barrier=600)


@pl.kernel
def scaled(a: pl.f32[N, M], b: pl.f32[N, M], s: pl.f32) -> None:
    """A local that each iteration has to itself."""
    for i in range(N):
        for j in range(M):
            t = a[i, j] * s
            b[i, j] = t + t * a[i, j]


@pl.kernel
def sums(a: pl.i32[N, M], c: pl.i32[1], d: pl.i32[1]) -> None:
    """Two reductions over two loops."""
    for i in range(N):
        for j in range(M):
            c[0] = c[0] + a[i, j]
            d[0] = max(d[0], a[i, j])


@pl.kernel
def dot(a: pl.f32[N], b: pl.f32[N], c: pl.f32[1]) -> None:
    for i in range(N):
        c[0] = c[0] + a[i] * b[i]


@pl.kernel
def doubled(a: pl.i32[N], b: pl.i32[N]) -> None:
    for i in range(N):
        b[i] = a[i] * 2


@pl.kernel
def prefix(a: pl.i32[N], b: pl.i32[N]) -> None:
    """A loop that carries a dependence."""
    for i in range(1, N):
        b[i] = b[i - 1] + a[i]


@pl.kernel
def two_parts(a: pl.i32[N, M], b: pl.i32[N, M], c: pl.i32[N, M]) -> None:
    """The first statement carries a dependence, the second none: distribution, then interchange of the first."""
    for i in range(1, N):
        for j in range(M):
            b[i, j] = b[i - 1, j] + a[i, j]
        for j in range(M):
            c[i, j] = b[i, j] * 3


def arguments(nest: Nest, seed: int = 0) -> dict[str, Any]:
    """Arrays for all arguments of a nest without parameters."""
    rng = np.random.default_rng(seed)
    made: dict[str, Any] = {}
    for s in nest.storage:
        if s.role == "argument":
            shape = tuple(e.constant for e in s.shape)
            values = rng.random(shape) * 4 - 2 if s.dtype in ("f32", "f16") else rng.integers(0, 9, shape)
            made[s.name] = np.asarray(values).astype(NUMPY[s.dtype])
    return made
