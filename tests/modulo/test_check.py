# SPDX-License-Identifier: Apache-2.0
"""The checker finds what unrolling finds, in schedules right and wrong, and names every sabotage."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.modulo.brute import is_valid, problems

from polyloom.diagnostics import PolyloomError
from polyloom.modulo.check import check, violations
from polyloom.modulo.problem import Capacity, Choice, Dependence, Hold, Operation, Problem, Resource, Schedule, Use

LOOP = Problem(
    (
        Operation("load", (Choice((Use(0),), 3, 8),)),
        Operation("add", (Choice((Use(1),)), Choice((Use(0),), 2))),
        Operation("divide", (Choice((Use(1, 5),), 5),)),
    ),
    (Resource("port"), Resource("unit", 2)),
    (Dependence(0, 1), Dependence(1, 2, 1), Dependence(1, 0, 1, delay=1, to_result=True)),
    (Capacity("stations", 2, (Hold(0),)),),
)
RIGHT = Schedule(4, (0, 3, 2), (0, 0, 0), (3, 1, 5))


@settings(max_examples=100)
@given(st.data(), problems(3), st.integers(1, 4))
def test_a_schedule_is_faulted_exactly_when_its_unrolling_is(
    data: st.DataObject, problem: Problem, interval: int
) -> None:
    start = tuple(data.draw(st.integers(0, 6)) for _ in problem.operations)
    choice = tuple(data.draw(st.integers(0, len(o.choices) - 1)) for o in problem.operations)
    chosen = [o.choices[k] for o, k in zip(problem.operations, choice, strict=True)]
    latency = tuple(data.draw(st.integers(c.latency, c.longest)) for c in chosen)
    schedule = Schedule(interval, start, choice, latency)
    assert (not violations(problem, schedule)) == is_valid(problem, schedule)


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        (replace(RIGHT, start=(1, 3, 2)), "add follows load (distance 0) in cycle 3, before 4"),
        (replace(RIGHT, start=(0, 3, 0), interval=3), "divide follows add (distance 1) in cycle 3, before 4"),
        (replace(RIGHT, latency=(9, 1, 5)), "load has latency 9, which is not in 3 to 8"),
        (replace(RIGHT, latency=(8, 1, 5), start=(0, 13, 10)), "load follows add (distance 1) in cycle 12, before 15"),
        (
            replace(RIGHT, latency=(5, 1, 5), start=(0, 5, 5), interval=2),
            "3 places of stations are held, and there are 2",
        ),
        (replace(RIGHT, start=(0, 3, 3), interval=2), "unit is held 4 times in row 1, and has a limit of 2"),
        (
            replace(RIGHT, choice=(0, 1, 0), latency=(3, 2, 5), start=(0, 4, 3)),
            "port is held 2 times in row 0, and has a limit of 1",
        ),
        (replace(RIGHT, choice=(0, 2, 0)), "add has no choice 2"),
        (replace(RIGHT, start=(0, 3)), "3 operations have 2 starts, 3 choices and 3 latencies"),
        (replace(RIGHT, start=(-1, 3, 2)), "load starts at -1"),
        (replace(RIGHT, interval=0), "the initiation interval is 0"),
    ],
)
def test_every_sabotage_is_named(wrong: Schedule, sentence: str) -> None:
    assert violations(LOOP, RIGHT) == ()
    assert sentence in violations(LOOP, wrong)
    with pytest.raises(PolyloomError) as caught:
        check(LOOP, wrong)
    assert (caught.value.code, caught.value.exit_code) == ("PL0455", 70)
