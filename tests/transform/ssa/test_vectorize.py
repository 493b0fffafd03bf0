# SPDX-License-Identifier: Apache-2.0
"""Loops over vectors mean what the scalar loops mean, on `ir.ssa` alone: exits in the middle of a vector, lanes beyond
the arrays, masked stores, reductions."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from tests.transform.ssa.vector_loops import draw, given

from polyloom.ir.ssa import Function, Operand
from polyloom.ir.ssa_interpret import evaluate, interpret
from polyloom.ir.ssa_lanes import smear_mask
from polyloom.ir.ssa_read import read
from polyloom.ir.ssa_semantics import Poison
from polyloom.ir.ssa_text import print_ssa
from polyloom.ir.ssa_verify import verify
from polyloom.transform.ssa.common import common
from polyloom.transform.ssa.dce import dce
from polyloom.transform.ssa.vectorize import lanes as rewriting
from polyloom.transform.ssa.vectorize.vectorize import Vectorized, VectorMachine, vectorize

MACHINE = VectorMachine(32, True, {})


def vectorized(function: Function, machine: VectorMachine = MACHINE) -> tuple[Function, Vectorized]:
    made, (how,) = vectorize(function, machine, True)
    return verify(dce(common(verify(made)))), how


def differs(function: Function, made: Function, seed: int) -> bool:
    for n in (0, 1, 7, 8, 9, 33):
        ours, theirs = given(n, Random(seed)), given(n, Random(seed))
        results = [interpret(f, values) for f, values in ((function, theirs), (made, ours))]
        arrays = zip(theirs[3:], ours[3:], strict=True)
        if results[0] != results[1] or not all(np.array_equal(a, b) for a, b in arrays):
            return True
    return False


def drawn(count: int) -> list[tuple[int, Function, Function]]:
    found: list[tuple[int, Function, Function]] = []
    for seed in range(count):
        function = verify(draw(Random(seed), (8, 14, 30)[seed % 3]))
        made, how = vectorized(function)
        if how.lanes > 1:
            found.append((seed, function, made))
    return found


def test_drawn_loops() -> None:
    cases = drawn(60)
    assert len(cases) >= 40
    for seed, function, made in cases:
        assert read(print_ssa(made)) == made
        assert not differs(function, made, seed), seed


def test_a_mask_that_is_forgotten_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Exits that mask nothing before them, and no lane beyond the end."""

    def nothing(lanes: rewriting.Lanes, position: int) -> Operand:
        del position
        return lanes.number(0)

    monkeypatch.setattr(rewriting.Lanes, "_inactive_lanes", nothing)
    assert any(differs(function, made, seed) for seed, function, made in drawn(20))


def test_few_expected_iterations_stay_scalar() -> None:
    function = draw(Random(1), 8)
    _, how = vectorized(function, VectorMachine(32, True, {"n": 5}))
    assert (how.lanes, how.reason) == (1, "5 iterations are expected, fewer than 8 lanes")


def test_smears_look_at_no_lane_behind_the_first() -> None:
    text = "function f(%m: maskx4) -> maskx4 {\nentry:\n    %s: maskx4 = NAME %m\n    return %s\n}\n"
    mask = (0, 1, Poison("beyond the exit"), 0)
    assert smear_mask(mask, inclusive=False) == (0, 0, 1, 1)
    assert smear_mask(mask, inclusive=True) == (0, 1, 1, 1)
    assert evaluate(verify(read(text.replace("NAME", "smearx"))), [(0, 1, 0, 1)]) == (0, 0, 1, 1)
