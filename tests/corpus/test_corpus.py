# SPDX-License-Identifier: Apache-2.0
"""The corpus is as large as it was, every construct stands in three loops of it, and each loop comes to what its row
says."""

from __future__ import annotations

from collections import Counter

import pytest
from tests.corpus.corpus import Loop, loops, outcome

LOOPS = 165
"""As many as there were before what they need was built; more may come, none goes."""


def test_no_loop_is_gone() -> None:
    assert len(loops()) >= LOOPS
    assert len({str(loop) for loop in loops()}) == len(loops())


def test_every_construct_stands_in_three_loops() -> None:
    counted = Counter(construct for loop in loops() if loop.refused is None for construct in loop.constructs)
    assert {construct: count for construct, count in counted.items() if count < 3} == {}


def test_at_most_five_in_a_hundred_are_for_no_loop_machine() -> None:
    assert sum(loop.refused is not None for loop in loops()) * 20 <= len(loops())


def _covering(times: int) -> set[str]:
    """Set cover, greedily in the order of the list: the loops that run of which every construct is in `times`, and all
    that are refused."""
    counted, chosen = Counter[str](), set[str]()
    for loop in loops():
        if loop.waits is None and (loop.refused or any(counted[construct] < times for construct in loop.constructs)):
            chosen.add(str(loop))
            counted.update(() if loop.refused else loop.constructs)
    return chosen


DEFAULT = _covering(1)
"""The loops of the default run; with `-m long` all others."""


def test_every_construct_stands_in_a_loop_of_the_default_run() -> None:
    running = [loop for loop in loops() if loop.refused is None and loop.waits is None]
    counted = Counter(construct for loop in running if str(loop) in DEFAULT for construct in loop.constructs)
    assert {construct for loop in running for construct in loop.constructs} == counted.keys()


@pytest.mark.usefixtures("roughly_scheduled")
@pytest.mark.parametrize(
    "loop",
    [
        pytest.param(loop, marks=() if str(loop) in DEFAULT else pytest.mark.long, id=str(loop))
        for loop in loops()
        if loop.waits is None
    ],
)
def test_a_loop_runs_or_is_refused(loop: Loop) -> None:
    assert outcome(loop) == loop.expected


@pytest.mark.long
@pytest.mark.parametrize("loop", [loop for loop in loops() if loop.waits is not None], ids=str)
def test_a_loop_that_waits_is_refused_by_its_code(loop: Loop) -> None:
    """One that runs by now has lost its `waits`."""
    assert outcome(loop) == loop.expected
