# SPDX-License-Identifier: Apache-2.0
"""How many of `examples/kernels` run on a tile, at PolyBench's small sizes, each within its bound."""

from __future__ import annotations

from statistics import median
from typing import Any, cast

import pytest
from tests.kernels.sizes import MINI
from tests.targets.tensix.loops.phases.test_kernels import KERNELS, inputs
from tests.targets.tensix.loops.test_bound_ratios import MOST

import polyloom as pl
from polyloom.diagnostics import PolyloomError


def outcome(name: str) -> str:
    """Code of the error of a kernel, or how many times its bound is the error that was seen."""
    try:
        given: dict[str, Any] = {**MINI[name], **inputs(name, MINI[name])}
        result = pl.compile(KERNELS / f"{name}.py", on="tensix").run(given, fill="random")
    except PolyloomError as error:
        return error.code
    assert result.verified
    error, bound = cast("float", result.data["max_error"]), cast("float", result.data["bound"])
    # Columns beyond the rank of gramschmidt's matrix are noise, of which each element may be anything.
    return "equal" if not error else f"{bound / error:.2f}" if error <= bound else "open"


@pytest.mark.long
def test_examples_run_within_their_bounds() -> None:
    found = dict[str, str]()
    for name in MINI:
        found[name] = outcome(name)
        print(f"{name:16}{found[name]}", flush=True)
    assert not [name for name, each in found.items() if each.startswith("PL")]
    assert [name for name, each in found.items() if each == "open"] == ["gramschmidt"]
    ratios = [float(each) for each in found.values() if each[0].isdigit()]
    print(f"{len(found)} run, bounds are {median(ratios):.2f} times errors in the median")
    assert median(ratios) <= MOST
