# SPDX-License-Identifier: Apache-2.0
"""Interchange of reductions: rows are walked through inside, and no bit changes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.frontend.python.helpers import assert_same

from polyloom.frontend.python import load_kernel
from polyloom.ir.nest import Nest
from polyloom.ir.nest_c import print_c
from polyloom.ir.nest_interpret import interpret
from polyloom.ir.nest_verify import verify
from polyloom.transform.nest_to_ssa.reduction_interchange import interchange_reductions

HEAD = """import polyloom as pl

N, M = pl.sizes("N M")


@pl.kernel
def f(A: pl.f32[N, M], x: pl.f32[N], y: pl.f32[M], C: pl.f32[M, M]):
"""
COLUMN = "for i in range({}):\n            {}[{}] += A[i, j]"
"""A loop that walks through a column of A."""
CHANGED = {
    "product": "C[:] = A.T @ A",
    "product and more": "C[:] = 2.0 * (A.T @ A) + C",
    "sum of columns": "y[:] = A.sum(axis=0)",
    "vector": "y += A.T @ x",
    "loops": f"for j in range(M):\n        y[j] = x[0]\n        {COLUMN.format('N', 'y', 'j')}\n        y[j] *= 0.5",
}
SAME = {
    "sum of rows": "x[:] = A.sum(axis=1)",
    "vector": "x[:] = A @ y",
    "neighbour": f"for j in range(1, M):\n        {COLUMN.format('N', 'y', 'j')}\n        y[j] += y[j - 1]",
    "triangle": f"for j in range(M):\n        {COLUMN.format('j', 'y', 'j')}",
    "columns of results": f"for j in range(M):\n        {COLUMN.format('N', 'C', 'j, 0')}",
    "another element": f"for j in range(M):\n        y[0] = x[0]\n        {COLUMN.format('N', 'y', 'j')}",
}


def nest(folder: Path, body: str) -> Nest:
    file = folder / "f.py"
    file.write_text(f"{HEAD}    assert N <= M\n    {body}\n")
    return load_kernel(str(file)).nest


@pytest.mark.parametrize("name", CHANGED)
def test_bits_stay(name: str, tmp_path: Path) -> None:
    before = nest(tmp_path, CHANGED[name])
    after = interchange_reductions(before)
    verify(after)
    assert after.body != before.body
    generator = np.random.default_rng(0)
    given: dict[str, Any] = {
        n: generator.normal(size=s).astype(np.float32) for n, s in (("A", (5, 7)), ("x", 5), ("y", 7), ("C", (7, 7)))
    }
    sizes = {"N": 5, "M": 7}
    assert_same(interpret(before, sizes, given), interpret(after, sizes, given))


@pytest.mark.parametrize("name", SAME)
def test_others_stay_as_they_are(name: str, tmp_path: Path) -> None:
    before = nest(tmp_path, SAME[name])
    assert interchange_reductions(before) == before


def test_a_total_becomes_a_row(tmp_path: Path, golden: Callable[..., None]) -> None:
    golden("interchanged", print_c(interchange_reductions(nest(tmp_path, CHANGED["product and more"]))))
