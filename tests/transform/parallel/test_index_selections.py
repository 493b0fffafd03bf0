# SPDX-License-Identifier: Apache-2.0
"""Selections by indices: branches, which are bounds of loops where a loop is one branch; results stay the same."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from polyloom.frontend.python import load_kernel
from polyloom.ir.nest import Apply, If, Index, assignments, leaves, loop_nodes
from polyloom.transform.parallel.index_selections import split_index_selections
from polyloom.transform.parallel.lane_interpreter import interpret_lanes
from polyloom.transform.parallel.specialization import specialize

HEAD = "import numpy as np\nimport polyloom as pl\n\nN = pl.sizes('N')\n\n\n@pl.kernel\n"


@pytest.mark.parametrize("relation", [">=", ">", "<=", "<"])
@pytest.mark.parametrize("side", ["i[:, None] {} i", "i {} i[:, None]", "i[:, None] {} i + 2", "i {} 3"])
def test_a_mask_becomes_bounds_of_loops(relation: str, side: str, tmp_path: Path) -> None:
    file = tmp_path / "f.py"
    test = side.format(relation)
    text = f"    i = np.arange(N)\n    x[:, :] = np.where({test}, x * 2, x + np.where({test}, y[0], y[1]))\n"
    file.write_text(f"{HEAD}def f(x: pl.f32[N, N], y: pl.f32[2]) -> None:\n{text}")
    nest = specialize(load_kernel(str(file)).nest, {"N": 5})
    made = split_index_selections(nest)
    found = [leaf for a in assignments(made.body) for leaf in leaves(a.value)]
    assert not any(isinstance(leaf, Index) for leaf in found)
    # Each loop over columns is one of two statements: no branch is left.
    assert not any(isinstance(node, If) for loop in loop_nodes(made.body) for node in loop.body)
    assert len({a.name for a in assignments(made.body)}) == len([*assignments(made.body)]) > 1
    given = {"x": np.arange(25, dtype=np.float32).reshape(5, 5), "y": np.array([1, 3], np.float32)}
    assert np.array_equal(interpret_lanes(made, given)["x"], interpret_lanes(nest, given)["x"])


def test_equalities_stay_data(tmp_path: Path) -> None:
    file = tmp_path / "f.py"
    text = "    x[:, :] = np.where(np.arange(N)[:, None] == np.arange(N), x * 2, x)\n"
    file.write_text(f"{HEAD}def f(x: pl.f32[N, N]) -> None:\n{text}")
    nest = specialize(load_kernel(str(file)).nest, {"N": 5})
    values = [a.value for a in assignments(split_index_selections(nest).body)]
    assert any(isinstance(value, Apply) for value in values)
    assert [a.value for a in assignments(nest.body)] == values


@pytest.mark.parametrize(("type", "count"), [("i32", 0), ("u32", 1)])
def test_differences_that_wrap_stay_data(type: str, count: int, tmp_path: Path) -> None:
    """In u32, i - j is large where i < j."""
    file = tmp_path / "f.py"
    test = f"pl.{type}(i) - pl.{type}(j) > 1"
    text = f"    for i in range(N):\n        for j in range(N):\n            x[i, j] = 2.0 if {test} else 3.0\n"
    file.write_text(f"{HEAD}def f(x: pl.f32[N, N]) -> None:\n{text}")
    nest = specialize(load_kernel(str(file)).nest, {"N": 5})
    made = split_index_selections(nest)
    selections = [a for a in assignments(made.body) if isinstance(a.value, Apply) and a.value.operation == "select"]
    assert len(selections) == count
    given = {"x": np.zeros((5, 5), np.float32)}
    assert np.array_equal(interpret_lanes(made, given)["x"], interpret_lanes(nest, given)["x"])
