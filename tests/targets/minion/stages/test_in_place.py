# SPDX-License-Identifier: Apache-2.0
"""Phases that write an array which they read: what a phase reads is what was there before it, whatever it stores
first; on one minion and on several."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.in_turns import in_turns

import polyloom as pl
from polyloom.frontend.python import load_kernel
from polyloom.ir.nest_interpret import interpret
from polyloom.transform.writers import execute_in_place

HEAD = "import polyloom as pl\n\nN, M = pl.sizes('N M')\n\n\n@pl.kernel\n"
LOOPS = """def f(x: pl.f32[N, M], mean: pl.f32[M], y: pl.f32[M, M]) -> None:
    for i in range(N):
        for j in range(M):
            x[i, j] -= mean[j]
    for i in range(M):
        for j in range(M):
            y[i, j] = 0.0
            for k in range(N):
                y[i, j] += x[k, i] * x[k, j]
"""
FIRST = ("x -= a", "x[1:] = x[:-1] + a[1:]", "x[:-1] = x[1:] * 2.0", "x[:] = x[::-1]", "x[:] = x @ y", "y[:] = y @ y")
THEN = ("y[:] = x.T @ a", "x[:] = x * x", "y += a.T @ x")


def run(path: Path, text: str, minions: int) -> Any:
    file = path / "f.py"
    file.write_text(HEAD + text)
    return pl.compile(str(file), on=f"minion:{minions}").run(N=20, M=12)


@pytest.mark.parametrize("minions", [1, 4])
def test_a_mean_is_subtracted_in_place_before_a_product(minions: int, tmp_path: Path) -> None:
    result = run(tmp_path, LOOPS, minions)
    assert result.verified and result.error < 1e-3 and result.data["phases"] == ["simd", "product"]


@pytest.mark.parametrize(("first", "then"), in_turns(FIRST, THEN, 2))
def test_statements_in_place_have_the_bits_of_the_source(first: str, then: str, tmp_path: Path) -> None:
    arguments = "x: pl.f32[N, M], a: pl.f32[N, M], y: pl.f32[M, M]"
    result = run(tmp_path, f"def f({arguments}) -> None:\n    {first}\n    {then}\n", 4)
    assert result.verified and result.error is not None and result.data["hazards"] == []
    assert {each.name for each in result.outcome.comparisons} >= {"numpy"}


@pytest.mark.parametrize("shift", [-1, 0, 1])
def test_a_nest_in_place_reads_what_was_there(shift: int, tmp_path: Path) -> None:
    file = tmp_path / "f.py"
    body = f"    for i in range(1, 9):\n        x[i] = a[i] + r[i + {shift}]\n"
    file.write_text(HEAD + "def f(x: pl.f32[10], r: pl.f32[10], a: pl.f32[10]) -> None:\n" + body)
    nest = load_kernel(str(file)).nest
    made = execute_in_place(nest, "x", "r")
    x, a = np.arange(10, dtype=np.float32) ** 2, np.arange(10, dtype=np.float32)
    apart = interpret(nest, {}, {"x": x, "r": x, "a": a})["x"]
    assert np.array_equal(interpret(made, {}, {"x": x, "a": a})["x"], apart)
    assert any(s.name == "r" for s in made.storage) == (shift == -1)
