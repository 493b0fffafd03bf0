# SPDX-License-Identifier: Apache-2.0
"""Symmetric results: of what is symmetric one triangle is computed, with the same bits; nothing else changes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.conftest import Golden
from tests.frontend.python.helpers import assert_same

import polyloom as pl
from polyloom.frontend.python.kernel import Kernel
from polyloom.ir import nest_interpret
from polyloom.ir.nest_c import print_c
from polyloom.ir.nest_verify import verify
from polyloom.transform.nest_to_ssa.symmetric_results import compute_triangles

N, M = pl.sizes("N M")


@pl.kernel
def syrk(A: pl.f32[N, M], C: pl.f32[M, M]) -> None:
    for i in range(M):
        for j in range(M):
            C[i, j] = 0.5
            for k in range(N):
                C[i, j] += A[k, i] * A[k, j]


@pl.kernel
def distances(A: pl.f32[N, M], C: pl.f32[N, N]) -> None:
    for i in range(1, N):
        for j in range(1, N):
            total = pl.f32(0.0)
            for k in range(M):
                total += abs(A[i, k] * A[j, k]) + (A[j, k] + A[i, k])
            C[j, i] = total * 2.0


@pl.kernel
def differences(A: pl.f32[N, M], C: pl.f32[N, N]) -> None:
    for i in range(N):
        for j in range(N):
            C[i, j] = 0.0
            for k in range(M):
                C[i, j] += A[i, k] - A[j, k]


@pl.kernel
def accumulated(A: pl.f32[N, M], C: pl.f32[N, N]) -> None:
    for i in range(N):
        for j in range(N):
            for k in range(M):
                C[i, j] += A[i, k] * A[j, k]


@pl.kernel
def other_bounds(A: pl.f32[N, M], C: pl.f32[N, N]) -> None:
    for i in range(N):
        for j in range(1, N):
            C[i, j] = 0.0
            for k in range(M):
                C[i, j] += A[i, k] * A[j, k]


@pl.kernel
def read_back(A: pl.f32[N, M], C: pl.f32[N, N]) -> None:
    for i in range(N):
        for j in range(N):
            C[i, j] = 0.0
            for k in range(M):
                C[i, j] += A[i, k] * A[j, k] * C[0, 0]


@pl.kernel
def no_loop(A: pl.f32[N, M], C: pl.f32[N, N]) -> None:
    for i in range(N):
        for j in range(N):
            C[i, j] = A[i, 0] * A[j, 0]


@pl.kernel
def rows(A: pl.f32[N, M], D: pl.f32[N, N, M]) -> None:
    for i in range(N):
        for j in range(N):
            for k in range(M):
                D[i, j, k] = A[i, k] * A[j, k]


@pl.kernel
def chosen(A: pl.f32[N, M], D: pl.f32[N, N, M]) -> None:
    for i in range(N):
        for j in range(N):
            at = pl.i32(0)
            for k in range(M):
                at = pl.i32(k // 2)
            D[i, j, at] = A[i, 0] * A[j, 0]


UNCHANGED = (differences, accumulated, other_bounds, read_back, no_loop, rows, chosen)


def arrays(seed: int) -> dict[str, Any]:
    """Sizes 4 and 5, with a NaN and an infinity."""
    generator = np.random.default_rng(seed)
    a = generator.uniform(-1, 1, (4, 5)).astype(np.float32)
    a[1, 2], a[3, 0] = np.nan, np.inf
    return {"A": a}


@pytest.mark.parametrize("kernel", [syrk, distances], ids=lambda kernel: kernel.name)
def test_one_triangle_is_computed(kernel: Kernel, golden: Golden) -> None:
    made = compute_triangles(kernel.nest)
    verify(made)
    golden(f"symmetric-{kernel.name}", print_c(made))
    for seed in range(3):
        sizes, given = {"N": 4, "M": 5}, arrays(seed)
        assert_same(nest_interpret.interpret(kernel.nest, sizes, given), nest_interpret.interpret(made, sizes, given))


@pytest.mark.parametrize("kernel", UNCHANGED, ids=lambda kernel: kernel.name)
def test_others_stay(kernel: Kernel) -> None:
    assert compute_triangles(kernel.indirect) == kernel.indirect
