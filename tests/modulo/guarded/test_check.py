# SPDX-License-Identifier: Apache-2.0
"""The checker finds what unrolling finds, in schedules right and wrong."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.modulo.guarded.brute import is_valid, problems
from tests.modulo.guarded.test_solve import BITS

from polyloom.diagnostics import PolyloomError
from polyloom.modulo.guards.check import check, violations
from polyloom.modulo.guards.problem import Guarded, Solution

RIGHT = Solution(2, (0, 0, 1, 2), (0, 0, 1, 1), 2, True, "")


@settings(max_examples=300)
@given(st.data(), problems(4), st.integers(1, 4))
def test_a_schedule_is_faulted_exactly_when_its_unrolling_is(data: st.DataObject, problem: Guarded, pi: int) -> None:
    start = tuple(data.draw(st.integers(0, 6)) for _ in problem.operations)
    unit = tuple(data.draw(st.sampled_from(problem.executing_units(v))) for v in range(len(start)))
    found = violations(problem, Solution(pi, start, unit, 1, False, ""))
    assert (not found) == is_valid(problem, pi, (start, unit))


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        (replace(RIGHT, start=(0, 0, 0, 2)), "S3 reads S1 (distance 0) in cycle 0, before it is ready in 1"),
        (replace(RIGHT, start=(0, 1, 2, 2)), "S1, S2 are not ready in the same cycle"),
        (replace(RIGHT, start=(0, 0, 1, 3)), "S4 reads S1 2 cycles after it is ready: it is overwritten by then"),
        (replace(RIGHT, start=(0, 0, 1, 1)), "S3 and S4 collide on unit alu1"),
        (replace(RIGHT, initiation_interval=1), "S2 reads S3 (distance 1) in cycle 1, before it is ready in 2"),
        (replace(RIGHT, unit=(0, 2, 1, 1)), "S2 cannot run on unit number 2"),
        (replace(RIGHT, start=(0, 0, 1)), "4 operations have 3 start offsets and 4 units"),
        (replace(RIGHT, start=(-2, -2, -1, 0)), "S1 starts at -2"),
        (replace(RIGHT, initiation_interval=0), "the initiation interval is 0"),
    ],
)
def test_every_sabotage_is_named(wrong: Solution, sentence: str) -> None:
    assert violations(BITS, RIGHT) == ()
    assert sentence in violations(BITS, wrong)
    with pytest.raises(PolyloomError) as caught:
        check(BITS, wrong)
    assert caught.value.exit_code == 70
