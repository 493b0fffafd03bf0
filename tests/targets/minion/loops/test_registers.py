# SPDX-License-Identifier: Apache-2.0
"""What registers hold, from one instruction of interleaved rounds to the next and behind a loop."""

from __future__ import annotations

import numpy as np

import polyloom as pl

N = pl.size("N")


@pl.kernel
def lane_quotients(a: pl.i32[N], b: pl.i32[N]) -> None:
    for i in range(N):
        b[i] = a[i] // 4 + a[i] % 3


@pl.kernel
def sometimes(a: pl.i32[N], b: pl.i32[N], last: pl.i32[1]) -> None:
    held = 3
    for i in range(N):
        if i > 2:
            held = a[i]
        b[i] = held
    last[0] = held


def test_loops_over_lanes_of_interleaved_rounds_stay_whole() -> None:
    """The body of each follows its label: else one round goes round with the counter of another."""
    a = np.arange(-20, 23, dtype=np.int32)
    run = pl.compile(lane_quotients, on="minion:1").run(N=43, a=a, b=np.zeros(43, np.int32), max_cycles=10**6)
    assert np.array_equal(run.outputs["b"], a // 4 + a % 3)


def test_an_element_that_some_iterations_write_is_stored() -> None:
    a = np.arange(10, 17, dtype=np.int32)
    run = pl.compile(sometimes, on="minion:1").run(N=7, a=a, b=np.zeros(7, np.int32), last=np.zeros(1, np.int32))
    assert run.outputs["b"].tolist() == [3, 3, 3, 13, 14, 15, 16]
    assert run.outputs["last"].tolist() == [16]
