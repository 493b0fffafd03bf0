# SPDX-License-Identifier: Apache-2.0
"""Random kernels of whole arrays: their nests and processors give the ordered meaning bit for bit, and NumPy, which
runs the function itself, is within the derived bound of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.frontend.python.arrays.random_kernels import (
    MACHINES,
    SIZES,
    is_refusal,
    random_arguments,
    read_random_kernel,
    run_kernel,
)
from tests.frontend.python.helpers import assert_same

from polyloom.analysis.nest_check import check_with_least_sizes
from polyloom.diagnostics import PolyloomError
from polyloom.frontend.python.arrays.values import as_items
from polyloom.frontend.python.kernel import Kernel
from polyloom.ir import nest_interpret
from polyloom.ir.arrays.error_bound import error_bounds

FINITE = 0.99
"""The part of all elements of results, at least, for which the bound says something."""


def made(seed: int, folder: Path) -> Kernel | None:
    """A random kernel; None for one that needs a function of doubles, which there is not."""
    try:
        return read_random_kernel(seed, folder)
    except PolyloomError as error:
        assert error.code == "PL0139", error
        return None


def check(kernel: Kernel, seed: int) -> tuple[int, int]:
    """How many elements the results have, and for how many the bound is finite."""
    parameters = {name: SIZES[name] for name in kernel.arrays.program.parameters}
    given = random_arguments(kernel, seed)
    ordered = kernel.reference(parameters, given)
    empty = {name: np.zeros_like(ordered[name]) for name in kernel.arrays.results}
    assert_same(ordered, nest_interpret.interpret(check_with_least_sizes(kernel.nest), parameters, {**empty, **given}))
    bounds = error_bounds(kernel.arrays.program, parameters, given)
    passed = {n: given[n].copy() if given[n].shape else given[n][()] for n in kernel.arrays.order}
    values = as_items(kernel(**passed))
    found = {**passed, **dict(zip(kernel.arrays.results, values, strict=True))}
    for name, want in ordered.items():
        assert_within(want, np.asarray(found[name]).reshape(want.shape), bounds[name], name)
    return sum(b.size for b in bounds.values()), sum(int(np.isfinite(b).sum()) for b in bounds.values())


def assert_within(ordered: Any, numpy: Any, bound: Any, name: str) -> None:
    with np.errstate(all="ignore"):
        distance = np.abs(ordered.astype(np.float64) - numpy.astype(np.float64))
    same = (ordered == numpy) | (np.isnan(ordered) & np.isnan(numpy))
    assert ordered.dtype == numpy.dtype
    assert np.all(same | (distance <= bound) | ~np.isfinite(bound)), name


def check_seeds(seeds: range, folder: Path) -> None:
    every, finite, accepted = 0, 0, 0
    for seed in seeds:
        kernel = made(seed, folder)
        if kernel is not None:
            accepted += 1
            counts = check(kernel, seed)
            every, finite = every + counts[0], finite + counts[1]
    assert accepted >= 0.95 * len(seeds)
    assert finite >= FINITE * every


@pytest.mark.parametrize("start", range(0, 80, 20))
def test_nests_and_numpy_agree(start: int, tmp_path: Path) -> None:
    check_seeds(range(start, start + 20), tmp_path)


@pytest.mark.long
@pytest.mark.parametrize("start", range(1000, 3000, 100))
def test_many_nests_and_numpy_agree(start: int, tmp_path: Path) -> None:
    check_seeds(range(start, start + 100), tmp_path)


@pytest.mark.parametrize("seed", [*range(9), *(pytest.param(seed, marks=pytest.mark.long) for seed in range(9, 15))])
def test_riscv_gives_the_ordered_meaning(seed: int, tmp_path: Path) -> None:
    kernel = made(seed, tmp_path)
    assert kernel is None or run_kernel(kernel, seed, "riscv:rv64gc")


@pytest.mark.parametrize("seed", range(6))
def test_the_belt_gives_the_ordered_meaning(seed: int, tmp_path: Path) -> None:
    kernel = made(seed, tmp_path)
    assert kernel is None or run_kernel(kernel, seed, "belt:gold")


def run_or_refuse(kernel: Kernel, seed: int, on: str) -> bool:
    """Whether a machine takes a kernel, which it then computes right; what it does not take is refused with a reason,
    not found out by its results."""
    try:
        assert run_kernel(kernel, seed, on)
    except PolyloomError as error:
        assert is_refusal(error), error
        return False
    return True


@pytest.mark.parametrize(("on", "seed"), [("minion:2", seed) for seed in (1, 2, 4, 6, 10, 13, 36, 138)])
def test_machines_give_the_ordered_meaning(on: str, seed: int, tmp_path: Path) -> None:
    kernel = made(seed, tmp_path)
    assert kernel is not None and run_or_refuse(kernel, seed, on)


@pytest.mark.long
@pytest.mark.parametrize("on", MACHINES)
@pytest.mark.parametrize("start", range(100, 400, 20))
def test_many_machines_give_the_ordered_meaning(on: str, start: int, tmp_path: Path) -> None:
    known = {seed: made(seed, tmp_path) for seed in range(start, start + 20)}
    for seed, kernel in known.items():
        assert kernel is None or run_or_refuse(kernel, seed, on) or on not in ("riscv:rv64gc", "belt:gold"), seed


def test_a_bound_that_is_too_small_is_seen() -> None:
    one = np.ones(2, np.float32)
    with pytest.raises(AssertionError):
        assert_within(one, one + np.float32(1e-3), np.full(2, 1e-4), "x")
