# SPDX-License-Identifier: Apache-2.0
"""How tight error bounds are: the largest bound of outputs to the largest error that is seen, at most 4 in the
median of the examples whose results differ from the program's."""

from __future__ import annotations

from statistics import median
from typing import Any, Final, cast

import pytest
from tests.targets.tensix.loops.phases.test_kernels import KERNELS, SIZES, inputs
from tests.targets.tensix.loops.stages.test_run import RUN
from tests.targets.tensix.loops.stages.test_triangles import TRIANGLES

import polyloom as pl

MOST: Final = 4.0
QUICK: Final = ("gemm", "mvt", "syrk", "lu", "trisolv")


def ratio(name: str) -> float | None:
    """None where tile and program agree in every bit."""
    known = {**SIZES, **TRIANGLES, **{other: sizes for other, (sizes, _) in RUN.items()}}[name]
    given: dict[str, Any] = {**known, **inputs(name, known)}
    data = pl.compile(KERNELS / f"{name}.py", on="tensix").run(given, fill="random").data
    error, bound = cast("float", data["max_error"]), cast("float", data["bound"])
    return bound / error if error else None


def tightness(names: tuple[str, ...]) -> float:
    found = {name: ratio(name) for name in names}
    for name, each in found.items():
        print(f"{name:16}{'equal' if each is None else f'{each:8.2f}'}")
    middle = median(each for each in found.values() if each is not None)
    print(f"median {middle:.2f}")
    return middle


def test_bounds_are_tight() -> None:
    assert tightness(QUICK) <= MOST


@pytest.mark.long
def test_bounds_of_all_examples_are_tight() -> None:
    assert tightness((*RUN, *SIZES, *TRIANGLES)) <= MOST
