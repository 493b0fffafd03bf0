# SPDX-License-Identifier: Apache-2.0
"""Every wait of a function that is cut into stages is needed: without any one of them, the model reports."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.targets.minion.gemm.test_waits import waits_that_no_one_needs

import polyloom as pl

BLOCKS = """
import polyloom as pl

N, M, K = pl.sizes("N M K")


@pl.kernel
def f(A: pl.f32[N, K], B: pl.f32[K, M], C: pl.f32[N, M], D: pl.f32[N, M]):
    for i in range(N):
        for j in range(M):
            for k in range(K):
                C[i, j] += A[i, k] * B[k, j]
    for i in range(N):
        for j in range(M):
            D[i, j] = C[N - 1 - i, j] * 2.0
"""
VECTORS = """
import polyloom as pl

N, M = pl.sizes("N M")


@pl.kernel
def f(A: pl.f32[N, M], x: pl.f32[M], y: pl.f32[N], z: pl.f32[N]):
    for i in range(N):
        for j in range(M):
            y[i] += A[i, j] * x[j]
    for i in range(N):
        z[i] = y[N - 1 - i] * 2.0
"""


@pytest.mark.parametrize(
    ("text", "sizes"),
    [(BLOCKS, {"N": 40, "M": 40, "K": 20}), (VECTORS, {"N": 80, "M": 20})],
    ids=["blocks", "vectors"],
)
def test_every_wait_is_needed(
    text: str, sizes: dict[str, int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "f.py"
    path.write_text(text)
    assert waits_that_no_one_needs(monkeypatch, [pl.compile(path, on="minion:2")], sizes) == []
