# SPDX-License-Identifier: Apache-2.0
"""Calls of library functions are found in the nests that were made of them, and nowhere else."""

from __future__ import annotations

from pathlib import Path

import pytest

from polyloom import frontend
from polyloom.ir.nest import Apply, Expression, Nest, assignments
from polyloom.transform.parallel.library_calls import recover_calls

HEAD = "#include <math.h>\nvoid f(int n, const float x[n], float y[n]) {\n  for (int i = 0; i < n; i++) "


def nest(text: str, tmp_path: Path) -> Nest:
    path = tmp_path / "f.c"
    path.write_text(f"{HEAD}{text}\n}}\n", encoding="utf-8")
    found = frontend.load(str(path)).nest
    assert found is not None
    return found


def operations(value: Expression) -> set[str]:
    if not isinstance(value, Apply):
        return set()
    return {value.operation}.union(*map(operations, value.operands))


@pytest.mark.parametrize("name", ["exp", "exp2", "log", "sin", "cos", "tanh"])
def test_a_call_is_found(name: str, tmp_path: Path) -> None:
    made = recover_calls(nest(f"y[i] = {name}f(x[i] * 2.0f) + x[i];", tmp_path))
    used = set[str]().union(*(operations(a.value) for a in assignments(made.body)))
    assert used <= {name, "mul", "add"} and name in used
    assert {storage.dtype for storage in made.storage} == {"f32"}


def test_nested_calls_are_found(tmp_path: Path) -> None:
    made = recover_calls(nest("y[i] = expf(tanhf(x[i]));", tmp_path))
    assert set[str]().union(*(operations(a.value) for a in assignments(made.body))) == {"exp", "tanh"}


def test_other_nests_are_the_same_object(tmp_path: Path) -> None:
    found = nest("y[i] = x[i] * 2.0f;", tmp_path)
    assert recover_calls(found) is found
