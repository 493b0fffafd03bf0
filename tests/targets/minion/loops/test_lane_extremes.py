# SPDX-License-Identifier: Apache-2.0
"""Maxima and minima in lanes, and divisions by what a loop does not change: the bits are those of the source's order,
also of zeros and NaNs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import polyloom as pl
from polyloom.ir.nest import Apply, Assign, Expression, Loop
from polyloom.ir.pla import Reference
from polyloom.sets import Affine
from polyloom.targets.minion.map.simd.lane_extremes import match_extreme

R, N = pl.sizes("R N")
SPECIAL = np.array([0.0, -0.0, np.nan, np.inf, -np.inf, 1.0, -1.0, 1e38, 1e-30, -7.0], np.float32)


@pl.kernel
def rows(x: pl.f32[R, N], most: pl.f32[R], least: pl.f32[R], scaled: pl.f32[R, N], thirds: pl.f32[R, N]) -> None:
    most[:] = x.max(axis=1)
    least[:] = x.min(axis=1)
    three: Any = np.float32(3)
    root: Any = np.sqrt(np.abs(x[:, :1]))
    scaled[:] = x / root
    thirds[:] = x / three


@pytest.mark.parametrize("width", [37, 64])
def test_bits_are_those_of_the_order_of_the_source(width: int) -> None:
    """The run is compared bit by bit with the machine's arithmetic in the order of the source. Where the greatest or
    the least element is a zero or a NaN, the loop runs once more."""
    rng = np.random.default_rng(width)
    x = rng.standard_normal((24, width)).astype(np.float32)
    for row in range(16):
        x[row] = rng.choice(SPECIAL[: 2 + row % 9], width) if row % 2 else -np.abs(x[row])
        x[row, rng.integers(0, width, 3)] = rng.choice(SPECIAL, 3)
    run = pl.compile(rows, on="minion:2").run(R=24, N=width, x=x)
    assert run.verified


def _loop(condition: str, *, nan: bool) -> Loop:
    """for j: m = m if condition(x[j], m) (or m is a NaN) else x[j]"""
    m, x = Reference("m", ()), Reference("x", (Affine.symbol("j"),))
    test: Expression = Apply(condition, "f32", (x, m))
    test = Apply("or", "i32", (test, Apply("ne", "f32", (m, m)))) if nan else test
    choice = Assign("s", m, Apply("select", "f32", (test, m, x)))
    return Loop("j", (Affine(),), (Affine((), 64),), (choice,), 1)


@pytest.mark.parametrize("condition", ["lt", "le", "gt", "ge"])
def test_a_nan_that_ends_what_was_before_keeps_the_order(condition: str) -> None:
    """Without the second test a NaN is replaced by the next element: only those behind the last NaN count."""
    assert match_extreme(_loop(condition, nan=True)) is not None
    assert match_extreme(_loop(condition, nan=False)) is None
