# SPDX-License-Identifier: Apache-2.0
"""Values of one variable, needed one by one in a later phase: each iteration gets an element of its own."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.frontend.python.helpers import arguments, assert_same, meaning

from polyloom.frontend.python import load_kernel
from polyloom.ir.plan_interpret import interpret
from polyloom.transform import plan

ROWS = """import polyloom as pl

N, M = pl.sizes("N M")


@pl.kernel
def rows(A: pl.f32[N, M], B: pl.f32[N, M]) -> None:
    for i in range({begin}, {end}):
        s = 0.0
        for j in range({inner}):
            s += A[i, j] * A[i, j]
        s = pl.sqrt(s)
        for j in range(M):
            B[i, j] = A[i, j] / (s + 1)
"""


@pytest.mark.parametrize(
    ("begin", "end", "inner", "extent"),
    [("0", "N", "M", "N"), ("2", "N - 1", "M", "N"), ("1", "min(N, M)", "M", "N"), ("0", "N", "i, M", "N")],
)
def test_a_variable_of_each_row(begin: str, end: str, inner: str, extent: str, tmp_path: Path) -> None:
    path = tmp_path / "rows.py"
    path.write_text(ROWS.format(begin=begin, end=end, inner=inner), encoding="utf-8")
    nest = load_kernel(str(path)).nest
    _, made = plan(nest, reassociate=False)
    assert [str(array.shape[0]) for array in made.intermediates] == [extent, extent]
    for size in 0, 1, 2, 5:
        parameters = {"N": size, "M": size + 1}
        inputs = arguments(nest, parameters)
        assert_same(
            meaning(nest, parameters, inputs),
            interpret(made, parameters, {a.name: inputs[a.name] for a in made.inputs}),
        )
