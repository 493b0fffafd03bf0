# SPDX-License-Identifier: Apache-2.0
"""Every function of programs.c, natively and as a nest, on values that take all its branches."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from tests.frontend.c.helpers import HERE
from tests.frontend.python.helpers import arguments, assert_same, meaning

from polyloom.analysis.nest_check import check
from polyloom.frontend import c
from polyloom.frontend.source import Options
from polyloom.ir.nest import Nest, Storage
from polyloom.ir.numbers import NUMPY

pytest.importorskip("ziglang", reason="C needs the extra `c`")
pytestmark = pytest.mark.usefixtures("shared_trees")

PROGRAMS = HERE / "programs.c"
FUNCTIONS = re.findall(r"^void (\w+)", PROGRAMS.read_text(encoding="utf-8"), re.MULTILINE)
SHAPES = {"bare": ("A=n,m", "x=m", "B=n,m")}


def load(name: str) -> tuple[Nest, c.Reference]:
    return c.load(str(PROGRAMS), Options(function=name, shapes=SHAPES.get(name, ())))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_function_equals_nest(name: str) -> None:
    nest, reference = load(name)
    check(nest)
    parameters = dict(zip(nest.parameters, (4, 3), strict=False))
    for seed in range(2):
        inputs = arguments(nest, parameters, seed)
        shifted = {s.name: _signed(s, inputs[s.name]) for s in nest.storage if s.name in inputs}
        assert_same(meaning(nest, parameters, shifted), reference(parameters, shifted))


def _signed(storage: Storage, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Integers from -2 to 1 and numbers in [-1, 1) instead of natural ones."""
    return np.asarray(values - 2 if storage.dtype != "f32" else values * 2 - 3).astype(NUMPY[storage.dtype])


def test_integers_that_make_sizes_are_parameters_and_others_are_data() -> None:
    nest, _ = load("scalars")
    assert nest.parameters == ("n",)
    assert [(s.name, s.dtype, s.shape, s.writable, s.role) for s in nest.storage if not s.shape] == [
        ("count", "i32", (), False, "argument"),
        ("offset", "i16", (), False, "argument"),
        ("norm", "f32", (), True, "argument"),
        ("count_2", "i32", (), True, "local"),
    ]


def test_constant_extents_imply_bounds_of_parameters() -> None:
    assert str(load("cubes")[0].assumptions) == "-n + 4 >= 0 and n >= 0"


def test_a_function_says_what_it_assumes() -> None:
    assert str(load("assumes")[0].assumptions) == "n - 2 >= 0"


def test_bounds_are_maxima_and_minima() -> None:
    loop = load("bounds")[0].body[0]
    assert "Affine(terms=(('m', -1), ('t', 1)), constant=1)" in repr(loop)
