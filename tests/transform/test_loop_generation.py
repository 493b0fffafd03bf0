# SPDX-License-Identifier: Apache-2.0
"""Loops that are generated of equations compute what the equations say."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.transform.parallel.kernels import arguments

from polyloom.frontend.pla import parse
from polyloom.ir import interpret as equations
from polyloom.ir import nest_verify
from polyloom.ir.nest_interpret import interpret
from polyloom.transform.loop_generation import NoLoopOrder, generate_loops

EXAMPLES = Path(__file__).parents[2] / "examples"
PLA = [path for path in sorted(EXAMPLES.glob("*.pla")) if path.stem not in ("conv", "matmul")]


@pytest.mark.parametrize("path", PLA, ids=lambda path: path.stem)
def test_equations_become_a_nest_that_computes_the_same(path: Path) -> None:
    program = parse(path.read_text(encoding="utf-8"), path.name)
    values = {name: 8 - n for n, name in enumerate(program.parameters)}
    nest = generate_loops(program, values, {})
    nest_verify.verify(nest)
    given = {name: array for name, array in arguments(nest).items() if name in {a.name for a in program.inputs}}
    found = interpret(nest, {}, given)
    for name, expected in equations.interpret(program, values, given).items():
        assert np.array_equal(found[name], expected, equal_nan=True)


SKEWED = """parameter N >= 4
input a[N, N]: f32
output y[N, N]: f32
for 0 <= i < N, 0 <= j < N do
  x[i, j] = a[i, j]                      if i = 0 or i = N - 1 or j <= 1 or j = N - 1
  x[i, j] = x[i-1, j+1] + x[i+1, j-2]    if 1 <= i <= N - 2 and 2 <= j <= N - 2
  y[i, j] = x[i, j]
"""


def test_no_order_of_loops_is_said_of_the_variables() -> None:
    program = parse(SKEWED, "skewed.pla")
    with pytest.raises(NoLoopOrder) as error:
        generate_loops(program, {"N": 8}, {})
    assert list(error.value.names) == ["x"]
