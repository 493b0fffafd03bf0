# SPDX-License-Identifier: Apache-2.0
"""Common subexpressions of whole arrays: what a function computes in each of its calls is computed once, and results
stay NumPy's.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import polyloom as pl
from polyloom.frontend.python.kernel import Kernel
from polyloom.ir.nest_interpret import interpret

N = pl.size("N")


def shares(x: Any) -> Any:
    total = x.sum(axis=-1, keepdims=True)
    return x / total


def root(x: Any, zero: Any) -> Any:
    return 1 / np.sqrt(x * zero)


def twice(x: Any) -> Any:
    doubled = x + x
    return doubled * doubled


@pl.kernel
def same(x: pl.f32[N, 4], y: pl.f32[N, 4]) -> Any:
    y[...] = shares(x)
    return shares(x) * 2


@pl.kernel
def changed(x: pl.f32[N, 4], y: pl.f32[N, 4]) -> Any:
    y[...] = shares(x)
    x[0] = y[0]
    return shares(x) * 2


@pl.kernel
def zeros_of_both_signs(x: pl.f32[N, 4], y: pl.f32[N, 4]) -> Any:
    y[...] = twice(root(x, np.float32(0.0)))
    return twice(root(x, np.float32(-0.0)))


@pl.kernel
def in_a_branch(x: pl.f32[N, 4], y: pl.f32[N, 4]) -> Any:
    if N > 2:
        y[...] = shares(x)
    return shares(x) * 2


@pl.kernel
def cheap(x: pl.f32[N, 4], y: pl.f32[N, 4]) -> Any:
    y[...] = twice(x)
    return twice(x) * 2


@pytest.mark.parametrize(
    ("kernel", "locals_"), [(same, 1), (changed, 2), (zeros_of_both_signs, 2), (in_a_branch, 2), (cheap, 0)]
)
def test_values_are_shared_where_they_are_the_same(kernel: Kernel, locals_: int) -> None:
    nest = kernel.nest
    assert sum(s.role == "local" and bool(s.shape) for s in nest.storage) == locals_
    given = {n: np.random.default_rng(0).random((3, 4)).astype(np.float32) for n in "xy"}
    wanted = {n: array.copy() for n, array in given.items()}
    with np.errstate(divide="ignore"):
        wanted["result"] = kernel(**wanted)
        found = interpret(nest, {"N": 3}, given)
    assert all(np.array_equal(found[n], wanted[n]) for n in found)
