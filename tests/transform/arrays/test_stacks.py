# SPDX-License-Identifier: Apache-2.0
"""Stacked values are stored one by one: no branch in the loops, no array for a part, and NumPy's elements."""

from __future__ import annotations

from typing import Any

import numpy as np

import polyloom as pl
from polyloom.ir.nest import If, Loop, Node, Storage
from polyloom.ir.nest_interpret import interpret

N = pl.size("N")


@pl.kernel
def rotated(x: pl.i32[N, 4], c: pl.i32[N, 2]) -> Any:
    even, odd = x[:, 0::2], x[:, 1::2]
    return np.stack([even * c - odd, even + odd * c], axis=-1).reshape(N, 4)


@pl.kernel
def padded(x: pl.i32[N]) -> Any:
    return np.concatenate([x, x + 1])


@pl.kernel
def exchanged(x: pl.i32[N, 2]) -> None:
    x[:] = np.stack([x[:, 1], x[:, 0]], axis=1)


def branches(nodes: tuple[Node, ...]) -> int:
    inside = [
        node.body if isinstance(node, Loop) else (*node.body, *node.orelse)
        for node in nodes
        if isinstance(node, Loop | If)
    ]
    return sum(isinstance(node, If) for node in nodes) + sum(map(branches, inside))


def local_arrays(storage: tuple[Storage, ...]) -> list[str]:
    return [s.name for s in storage if s.role == "local" and s.shape]


def test_a_pair_is_two_stores() -> None:
    assert branches(rotated.nest.body) == 0
    assert local_arrays(rotated.nest.storage) == []
    x, c = np.arange(12, dtype=np.int32).reshape(3, 4), np.arange(6, dtype=np.int32).reshape(3, 2)
    found = interpret(rotated.nest, {"N": 3}, {"x": x, "c": c})["result"]
    assert np.array_equal(found, rotated(x, c))


def test_a_long_axis_keeps_its_branch() -> None:
    assert branches(padded.nest.body) == 1


def test_what_is_stored_at_one_place_is_not_read_at_another() -> None:
    x = np.arange(6, dtype=np.int32).reshape(3, 2)
    found = interpret(exchanged.nest, {"N": 3}, {"x": x})["x"]
    assert np.array_equal(found, x[:, ::-1])
