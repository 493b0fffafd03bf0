# SPDX-License-Identifier: Apache-2.0
"""Random programs over all element types: the array gives what the interpreter gives, and both what a twin gives that
computes one iteration after another; values are drawn from the limits of their types."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from tests.targets.tcpa.end_to_end import typed

import polyloom as pl
from polyloom.frontend.pla import parse
from polyloom.ir.interpret import interpret
from polyloom.ir.numbers import NUMPY, type_limits
from polyloom.ir.operations import ELEMENT_TYPES, ElementType

pytestmark = pytest.mark.usefixtures("roughly_scheduled")

COUNT = 12
FLOATS = [0.0, -0.0, 1.0, -1.5, 2.5, 127.5, -129.0, 3e9, -3e9, np.inf, -np.inf, np.nan, 1e-40, 3.4e38]


def values(dtype: ElementType, rng: np.random.Generator) -> npt.NDArray[Any]:
    bounds = type_limits(dtype)
    if bounds is None:
        return np.concatenate([rng.choice(FLOATS, COUNT // 2), rng.normal(0, 300, COUNT - COUNT // 2)]).astype(
            NUMPY[dtype]
        )
    least, most = bounds
    edges = rng.choice([least, most, 0, 1], COUNT // 2)
    return np.concatenate([edges, rng.integers(least, most, COUNT - COUNT // 2, endpoint=True)]).astype(NUMPY[dtype])


def check(seed: int, on: str, tmp_path: Path) -> None:
    text, steps = typed.program(seed, 12)
    rng = np.random.default_rng(seed)
    inputs = {f"x_{t}": values(t, rng) for t in ELEMENT_TYPES}
    with np.errstate(all="ignore"):
        wanted = typed.twin(steps, inputs, COUNT)
    read = parse(text, "types.pla")
    taken = {a.name: inputs[a.name] for a in read.inputs}
    interpreted = interpret(read, {"N": COUNT}, taken)
    path = tmp_path / "types.pla"
    path.write_text(text, encoding="utf-8")
    result = pl.compile(path, on).instantiate(N=COUNT).run(taken)
    assert result.verified
    for name, array in result.outputs.items():
        np.testing.assert_array_equal(array, interpreted[name])
        np.testing.assert_array_equal(array, np.array(wanted[name[2:]]).astype(array.dtype), err_msg=f"{name}\n{text}")


@pytest.mark.parametrize("seed", range(4))
def test_programs(seed: int, tmp_path: Path) -> None:
    check(seed, "tcpa:ideal:1x3" if seed % 2 else "tcpa:generic:1x2", tmp_path)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(4, 200))
def test_many_programs(seed: int, tmp_path: Path) -> None:
    check(seed, "tcpa:ideal:1x3", tmp_path)
