# SPDX-License-Identifier: Apache-2.0
"""What cannot be compiled for a member is told, with what is short and by how much."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from tests.targets.belt.generate import draw
from tests.targets.belt.map.schedule.test_examples import module

from polyloom.diagnostics import PolyloomError
from polyloom.targets.belt.compile import specialize
from polyloom.targets.belt.machine import Machine, member
from polyloom.targets.belt.source.genasm_read import read_genasm
from polyloom.targets.belt.source.ir import Module

MANY = ", ".join(f"%p{k}: w" for k in range(9))
CALLED = f"function g({MANY}) -> w {{\nentry:\n    return %p8\n}}\n"
NUMBERS = ", ".join(f"{k}:w" for k in range(9))
CALLER = f"function f() -> w {{\nentry:\n    %r: w = call @g({NUMBERS})\n    return %r\n}}\n"
CASES: dict[str, tuple[Module, Machine]] = {
    "scratch": (module("fir4"), replace(member("tin"), scratch=8)),
    "operation": (module("saxpy"), member("tin")),
    "parameters": (read_genasm(CALLER + CALLED), member("tin")),
}


@pytest.mark.parametrize("name", CASES)
def test_message(name: str, golden: Callable[[str, str], None]) -> None:
    given, machine = CASES[name]
    with pytest.raises(PolyloomError) as caught:
        specialize(given, machine)
    assert caught.value.exit_code == 3
    golden(name, str(caught.value) + "\n")


def test_more_loads_than_stations() -> None:
    _, (facts,) = specialize(module("dot"), replace(member("silver"), stations=1), spl="always")
    assert (facts.pipelined, facts.reason) == (False, "stations")


def test_the_ratio_decides() -> None:
    _, (facts,) = specialize(module("dot"), member("silver"))
    assert facts.pipelined and facts.linear >= 2 * facts.packed
    _, (facts,) = specialize(module("dot"), member("silver"), spl=100.0)
    assert (facts.pipelined, facts.reason) == (False, "ratio")
    _, (facts,) = specialize(module("dot"), member("silver"), spl="never")
    assert (facts.pipelined, facts.reason) == (False, "never")


def test_facts_of_a_random_loop() -> None:
    from random import Random

    _, (facts,) = specialize(draw(Random(5), 8).module, member("gold"), spl="always")
    assert facts.pipelined and facts.stages is not None and facts.stages >= 1
    assert facts.minimum_initiation_interval == max(facts.resource_bound, facts.recurrence_bound)
