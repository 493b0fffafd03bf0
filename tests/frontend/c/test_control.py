# SPDX-License-Identifier: Apache-2.0
"""Every function of control.c and wide.c, natively and as a nest: sizes with all rests, small values and any bits."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from tests.frontend.c.helpers import HERE
from tests.frontend.python.helpers import Arrays, arguments, assert_same, meaning

from polyloom.analysis.nest_check import check_with_least_sizes
from polyloom.frontend import c
from polyloom.frontend.source import Options
from polyloom.ir.nest import Nest

pytest.importorskip("ziglang", reason="C needs the extra `c`")
pytestmark = pytest.mark.usefixtures("shared_trees")

PROGRAMS = (HERE / "control.c", HERE / "wide.c")
HEAD = re.compile(r"^(?!static)[a-z]\w*(?: \w+)* (\w+)\(", re.MULTILINE)
FUNCTIONS = [(path, name) for path in PROGRAMS for name in HEAD.findall(path.read_text(encoding="utf-8"))]
SIZES = ((4, 3, 5), (5, 2, 1), (7, 7, 7), (2, 6, 3), (1, 1, 1), (0, 4, 2), (3, 5, 2))


def inputs(nest: Nest, parameters: dict[str, int], seed: int) -> Arrays:
    """Small values for even seeds, any bits for odd ones."""
    generator = np.random.default_rng(seed)

    def values(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
        if array.dtype.kind == "f":
            return np.asarray(array * 2 - 3).astype(array.dtype)
        if seed % 2 == 0 or not array.shape:
            return np.asarray(array.astype(np.int64) - 2).astype(array.dtype)
        words = generator.integers(0, 1 << 32, array.shape, np.uint32)
        return np.asarray(words).astype(array.dtype)

    return {name: values(array) for name, array in arguments(nest, parameters, seed).items()}


@pytest.mark.parametrize(("path", "name"), FUNCTIONS, ids=[name for _, name in FUNCTIONS])
def test_function_equals_nest(path: Path, name: str) -> None:
    nest, reference = c.load(str(path), Options(function=name))
    nest = check_with_least_sizes(nest)
    meant = [dict(zip(nest.parameters, sizes, strict=False)) for sizes in SIZES]
    meant = [parameters for parameters in meant if nest.assumptions.contains(parameters)]
    assert meant
    # Each run of the function is a process of its own: one per size, of either kind of values in turn.
    for seed, parameters in enumerate(meant if len(meant) > 1 else 2 * meant):
        given = inputs(nest, parameters, seed)
        assert_same(meaning(nest, parameters, given), reference(parameters, given))
