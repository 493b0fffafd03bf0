# SPDX-License-Identifier: Apache-2.0
"""Loops of steps of the user's own: tiles of another loop are its blocks, anything else has one step per iteration."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import numpy as np
import pytest

import polyloom as pl
from polyloom.api import load_source
from polyloom.diagnostics import PolyloomError
from polyloom.ir.nest import Nest, loop_nodes
from polyloom.transform.blocks.tiled_loops import read_tiled_loops

pytestmark = pytest.mark.usefixtures("roughly_scheduled")

N, M = pl.sizes("N M")


@pl.kernel
def plain(A: pl.i32[N, M], B: pl.i32[M], C: pl.i32[N]) -> None:
    for i in range(N):
        for j in range(M):
            C[i] += A[i, j] * B[j]


@pl.kernel
def tiled(A: pl.i32[N, M], B: pl.i32[M], C: pl.i32[N]) -> None:
    for i0 in pl.steps(range(0, N, 4)):
        for j0 in pl.steps(range(0, M, 8)):
            for i in range(i0, min(i0 + 4, N)):
                for j in range(j0, min(j0 + 8, M)):
                    C[i] += A[i, j] * B[j]


@pl.kernel
def other_order(A: pl.i32[N, M], B: pl.i32[M], C: pl.i32[N]) -> None:
    for j0 in pl.steps(range(0, M, 8)):
        for i0 in pl.steps(range(0, N, 4)):
            for i in range(i0, min(i0 + 4, N)):
                for j in range(j0, min(j0 + 8, M)):
                    C[i] += A[i, j] * B[j]


@pl.kernel
def part(A: pl.i32[N, M], B: pl.i32[M], C: pl.i32[N]) -> None:
    """The last rows are in no tile."""
    for i0 in pl.steps(range(0, N - 4, 4)):
        for i in range(i0, min(i0 + 4, N)):
            for j in range(M):
                C[i] += A[i, j] * B[j]


@pl.kernel
def used(A: pl.i32[N, M], B: pl.i32[M], C: pl.i32[N]) -> None:
    """What a tile computes depends on which one it is."""
    for i0 in pl.steps(range(0, N, 4)):
        for i in range(i0, min(i0 + 4, N)):
            for j in range(M):
                C[i] += A[i, j] * B[j] + i0


@pl.kernel
def sweeps(x: pl.i32[N], y: pl.i32[N]) -> None:
    for _ in pl.steps(range(3)):
        for i in range(1, N - 1):
            y[i] = x[i - 1] + x[i + 1]
        for i in range(1, N - 1):
            x[i] = y[i]


def nest_of(kernel: Any) -> Nest:
    nest = load_source(kernel).nest
    assert nest is not None
    return nest


def test_tiles_of_a_loop_are_its_blocks() -> None:
    nest, sizes = read_tiled_loops(nest_of(tiled))
    assert sizes == {"i": 4, "j": 8}
    assert [(loop.name, str(loop.upper[0])) for loop in loop_nodes(nest.body)] == [("i", "N"), ("j", "M")]
    result = pl.compile(tiled, on="tcpa:2x2").instantiate(N=9, M=17).run()
    blocked = pl.compile(plain, on="tcpa:2x2", block=sizes).instantiate(N=9, M=17).run()
    assert result.verified and result.cycles == blocked.cycles
    assert result.data["instantiations"] == blocked.data["instantiations"]


@pytest.mark.parametrize(
    ("kernel", "sizes"),
    [
        (plain, {}),
        (other_order, {"j0": 1, "i0": 1}),
        (part, {"i0": 1}),
        (used, {"i0": 1}),
        (sweeps, {"t": 1}),
    ],
    ids=["plain", "order", "part", "used", "sweeps"],
)
def test_other_loops_of_steps_have_blocks_of_one_iteration(kernel: Any, sizes: dict[str, int]) -> None:
    nest = nest_of(kernel)
    assert read_tiled_loops(nest) == (nest, sizes)


@pytest.mark.parametrize("kernel", [part, sweeps], ids=["part", "sweeps"])
def test_they_run_equal_to_the_function(kernel: Any) -> None:
    values = {"N": 9} if kernel is sweeps else {"N": 9, "M": 3}
    result = pl.compile(kernel, on="tcpa:1x2").instantiate(**values).run()
    assert result.verified
    phases = cast("list[dict[str, int]]", result.data["phases"])
    assert max(phase["steps"] for phase in phases) > 1


def test_elsewhere_it_is_a_loop_as_any() -> None:
    function = cast("Callable[..., None]", tiled)
    A, B, C = np.arange(6, dtype=np.int32).reshape(2, 3), np.ones(3, np.int32), np.zeros(2, np.int32)
    function(A=A, B=B, C=C)
    assert C.tolist() == [3, 12]
    assert list(pl.steps(range(2))) == [0, 1]


def test_only_ranges_are_loops_of_steps() -> None:
    with pytest.raises(PolyloomError, match="PL0136"):

        @pl.kernel
        def wrong(x: pl.i32[N]) -> None:  # pyright: ignore[reportUnusedFunction]
            for i in pl.steps(reversed(range(0, N, 2))):
                x[i] = 0

        pl.compile(wrong, on="riscv")
