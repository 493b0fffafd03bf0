# SPDX-License-Identifier: Apache-2.0
"""Random kernels spelled in C++ and in Python: equal words of the tile; run on the model they equal the interpreter."""

from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from tests.targets.tensix.sfpi.language.test_twins import words
from tests.targets.tensix.sfpi.spelled import spelled

import polyloom as pl
from polyloom.diagnostics import INFEASIBLE, PolyloomError
from polyloom.targets.tensix.source.cpp import source
from polyloom.targets.tensix.source.language.file import load_kernel

SPECIAL = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1e-40, 1.0, -1.0, 3.25, -7.0], np.float32)


def same(seed: int, folder: Path) -> bool:
    """False where the kernel needs more registers than there are, in both languages."""
    cplusplus, python = spelled(Random(seed))
    (folder / "k.h").write_text(cplusplus)
    (folder / "k.py").write_text(python)
    functions = source.load_kernel(str(folder / "k.h"), "f").function, load_kernel(str(folder / "k.py"), "f").trace()
    found: list[list[int | None] | None] = []
    for function in functions:
        try:
            found.append(words(function))
        except PolyloomError as error:
            assert error.exit_code == INFEASIBLE, error
            found.append(None)
    assert found[0] == found[1], cplusplus
    return found[0] is not None


def runs(seed: int, folder: Path) -> None:
    random = np.random.default_rng(seed)
    tile = random.uniform(-8, 8, (32, 32)).astype(np.float32)
    tile[:, ::7] = random.choice(SPECIAL, tile[:, ::7].shape)
    inputs: dict[str, Any] = {"dst:fp32": tile}
    result = pl.compile(str(folder / "k.py"), on="tensix", dest=32, per="tile").run(**inputs)
    assert result.verified


@pytest.mark.parametrize("first", [0, *(pytest.param(k, marks=pytest.mark.long) for k in (4, 8))])
def test_spellings(first: int, tmp_path: Path) -> None:
    fitting = [seed for seed in range(first, first + 4) if same(seed, tmp_path) and runs(seed, tmp_path) is None]
    assert fitting, "all of them need more registers than there are"


def test_a_product_that_two_variables_have(tmp_path: Path) -> None:
    """Placement once computed it into the second one, and left the first without it."""
    assert same(1123, tmp_path)
    runs(1123, tmp_path)


@pytest.mark.long
def test_many_spellings(tmp_path: Path) -> None:
    assert sum(same(seed, tmp_path) and runs(seed, tmp_path) is None for seed in range(1000, 1600)) > 300
