# SPDX-License-Identifier: Apache-2.0
"""Sums are computed once, whatever views of them are read, and as often as a function names its argument."""

from __future__ import annotations

from typing import Any

import numpy as np

import polyloom as pl
from polyloom.ir.nest import Loop
from polyloom.ir.nest_interpret import interpret

N = pl.size("N")


def square(x: Any) -> Any:
    return x * x


@pl.kernel
def halves(a: pl.i32[N, 3], b: pl.i32[3, 4]) -> Any:
    pairs = (a @ b).reshape(N, 2, 2)
    return pairs[..., 0] * pairs[..., 1]


@pl.kernel
def squared(a: pl.i32[N, 3], b: pl.i32[3, 4]) -> Any:
    return square((a @ b).reshape(N, 2, 2))


@pl.kernel
def masked(x: pl.f32[2, N, N]) -> Any:
    return np.where(np.arange(N)[:, None] >= np.arange(N), x, np.float32(0))


def test_views_of_a_product_share_it() -> None:
    assert sum(isinstance(node, Loop) for node in halves.nest.body) == 2
    a, b = np.arange(6, dtype=np.int32).reshape(2, 3), np.arange(12, dtype=np.int32).reshape(3, 4)
    assert np.array_equal(interpret(halves.nest, {"N": 2}, {"a": a, "b": b})["result"], halves(a, b))


def test_an_argument_is_evaluated_once() -> None:
    assert sum(isinstance(node, Loop) for node in squared.nest.body) == 2
    a, b = np.arange(6, dtype=np.int32).reshape(2, 3), np.arange(12, dtype=np.int32).reshape(3, 4)
    assert np.array_equal(interpret(squared.nest, {"N": 2}, {"a": a, "b": b})["result"], squared(a, b))


def test_a_mask_of_places_is_no_array() -> None:
    assert [s.name for s in masked.nest.storage if s.role == "local"] == []
    x = np.arange(18, dtype=np.float32).reshape(2, 3, 3)
    assert np.array_equal(interpret(masked.nest, {"N": 3}, {"x": x})["result"], np.tril(x))
