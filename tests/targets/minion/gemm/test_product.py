# SPDX-License-Identifier: Apache-2.0
"""Compiled products on the model: equal to the oracle bit for bit, without hazards, with the operations that the shape
asks for. `Compiled.run` compares every output, and raises where one differs."""

from __future__ import annotations

from pathlib import Path
from typing import cast

import numpy as np
import pytest

import polyloom as pl
from polyloom.targets.minion.map.product import arithmetic

MATMUL = str(Path(__file__).parents[4] / "examples" / "matmul.pla")
SHAPES = [
    (16, 16, 16, 1),
    (1, 1, 1, 1),
    (17, 33, 47, 1),
    (50, 20, 31, 3),
    (40, 100, 18, 7),
    (33, 70, 91, 32),
    (70, 81, 5, 64),
    # Second harts that have nothing to load in a whole ring of chunks, because their patch lies behind the last blocks.
    (16, 48, 256, 64),
    (20, 70, 260, 96),
]


@pytest.mark.parametrize(("n", "m", "k", "minions"), SHAPES)
def test_any_shape_on_any_number_of_minions(n: int, m: int, k: int, minions: int) -> None:
    result = pl.compile(MATMUL, on=f"minion:{minions}").run(N=n, M=m, K=k)
    assert result.verified
    assert result.data["hazards"] == []


def test_one_tile_takes_four_operations_and_one_wait() -> None:
    counters = cast("dict[str, int]", pl.compile(MATMUL, on="minion").run(N=16, M=16, K=16).data["counters"])
    names = ("tensor_load", "tensor_fma", "tensor_store", "waits")
    assert [counters[name] for name in names] == [2, 1, 1, 1]


def test_special_values() -> None:
    rng = np.random.default_rng(5)
    special = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1e-40, -1e-40, 2.0**-126, 3e38, 1.0], np.float32)
    a, b = (rng.choice(special, shape) for shape in ((20, 21), (21, 19)))
    result = pl.compile(MATMUL, on="minion:2").run(N=20, M=19, K=21, A=a, B=b)
    assert result.verified


def test_a_step_with_a_zero_adds_nothing() -> None:
    a, b = np.array([[1.0, 0.0]], np.float32), np.array([[2.0], [np.inf]], np.float32)
    assert arithmetic.product(a, b)[0, 0] == 2.0
    assert np.isnan(arithmetic.product(a[:, ::-1], b[::-1])[0, 0])


def test_what_would_round_up_to_the_least_normal_number_is_flushed() -> None:
    a, b = np.array([[1 - 2.0**-24]], np.float32), np.array([[2.0**-126]], np.float32)
    assert arithmetic.product(a, b)[0, 0] == 0.0
