# SPDX-License-Identifier: Apache-2.0
"""The hand-written modules of tests/targets/belt/source: intervals that are promised, programs as text, all ways to
compile."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from tests.in_turns import in_turns
from tests.targets.belt.map.schedule import comparing

from polyloom.modulo.solve import SOLVERS
from polyloom.targets.belt.compile import Ratio, specialize
from polyloom.targets.belt.machine import member, members
from polyloom.targets.belt.map.schedule.blocks import function_schedule
from polyloom.targets.belt.source.genasm_read import read_genasm
from polyloom.targets.belt.source.ir import Module
from polyloom.targets.belt.words.conasm import print_program
from polyloom.targets.belt.words.encode import encode
from polyloom.targets.belt.words.verify import verify

FOLDER = Path(__file__).parents[2] / "source"
NAMES = ("clipped", "dot", "fir4", "iir", "saxpy", "search", "strcpy", "strlen")
INTERVALS = {
    "silver": {"dot": 2, "saxpy": 2, "fir4": 4, "iir": 5, "clipped": 2, "strlen": 1, "strcpy": 1, "search": 2},
    "gold": {"dot": 1, "saxpy": 2, "fir4": 2, "iir": 5, "clipped": 1, "strlen": 1, "strcpy": 1, "search": 1},
}
"""At most."""


def module(name: str) -> Module:
    return read_genasm((FOLDER / f"{name}.genasm").read_text(encoding="utf-8"), name)


def arguments(name: str, n: int) -> list[Any]:
    random = Random(n)

    def words(count: int) -> np.ndarray[Any, Any]:
        return np.array([random.randrange(-30, 30) for _ in range(count)], np.int32)

    def text(count: int) -> np.ndarray[Any, Any]:
        return np.array([*(random.randrange(1, 99) for _ in range(count)), 0], np.int8)

    given: dict[str, Callable[[], list[Any]]] = {
        "clipped": lambda: [n, -9, 12, words(n)],
        "dot": lambda: [n, words(n), words(n)],
        "fir4": lambda: [n, words(4), words(n + 3), words(n)],
        "iir": lambda: [n, 9000, 3, words(n), words(n)],
        "saxpy": lambda: [n, 0x40000000, words(n).astype(np.float32), words(n).astype(np.float32)],
        "search": lambda: [n, 5, 7, words(n)],
        "strcpy": lambda: [np.zeros(n + 1, np.int8), text(n)],
        "strlen": lambda: [text(n)],
    }
    return given[name]()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("machine", ("silver", "gold"))
def test_intervals(name: str, machine: str) -> None:
    facts = comparing.check(module(name), member(machine), lambda n: arguments(name, n))
    assert facts.pipelined
    assert facts.initiation_interval is not None
    assert facts.minimum_initiation_interval <= facts.initiation_interval <= INTERVALS[machine][name]
    assert facts.rounds <= 4


@pytest.mark.parametrize("name", ("dot", "fir4", "strlen", "iir"))
def test_a_run_takes_little_more_than_its_passes(name: str) -> None:
    machine, n = member("silver"), 60
    program, (facts,) = specialize(module(name), machine, spl="always")
    data = comparing.belt_file.write(program, comparing.NAMELESS)
    run = comparing.check_run(module(name), data, arguments(name, n))
    assert facts.initiation_interval is not None and facts.stages is not None
    assert run.cycles <= facts.initiation_interval * (n + facts.stages) + 40


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("machine", [m for m in members() if m != "tin"])
def test_open_code(name: str, machine: str) -> None:
    """Loops that are not pipelined, with phases and without."""
    for phasing in (True, False):
        facts = comparing.check(
            module(name), member(machine, phasing), lambda n: arguments(name, n), "never", counts=(0, 1, 2, 7)
        )
        assert (facts.pipelined, facts.reason) == (False, "stations" if _is_narrow(name, machine) else "never")


def _is_narrow(name: str, machine: str) -> bool:
    return machine == "unit" and name in ("dot", "fir4", "saxpy")


@pytest.mark.parametrize("name", [n for n in NAMES if n != "saxpy"])
@pytest.mark.parametrize("spl", ("always", "never"))
@pytest.mark.parametrize(
    ("mode", "machine"),
    [*(("serial", m) for m in members()), *(("integrated", m) for m in ("tin", "copper", "silver", "unit"))],
)
def test_later_modes(name: str, machine: str, spl: Ratio, mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Spills and fills while a block is scheduled; or every value spilled, one operation after the other, each filled
    where it is read. Around pipelined loops, too, whose constants and frames are in scratch."""
    monkeypatch.setattr(function_schedule, "MODES", (mode,))
    comparing.check(module(name), member(machine), lambda n: arguments(name, n), spl, counts=(0, 1, 2, 7))


def test_a_loop_whose_frames_do_not_fit_beside_homes_takes_a_longer_interval() -> None:
    """Fewer iterations are in progress then, each with a frame."""
    for scratch, interval in ((32, 2), (24, 4)):
        copper = replace(member("copper"), scratch=scratch)
        facts = comparing.check(module("dot"), copper, lambda n: arguments("dot", n), solver="best", counts=(0, 7))
        assert facts.initiation_interval == interval


@pytest.mark.parametrize(
    ("name", "machine"), [pair for pair in in_turns(NAMES, members(), 2) if pair.values != ("saxpy", "tin")]
)
@pytest.mark.parametrize("solver", SOLVERS)
def test_every_solver_on_every_member(name: str, machine: str, solver: str) -> None:
    comparing.check(module(name), member(machine), lambda n: arguments(name, n), solver=solver)


@pytest.mark.parametrize("name", NAMES)
def test_the_verifier_finds_nothing(name: str) -> None:
    for machine in members():
        for phasing in (True, False):
            if (name, machine) != ("saxpy", "tin"):
                program, _ = specialize(module(name), member(machine, phasing), spl="always")
                assert verify(program) == [], (machine, phasing)


@pytest.mark.parametrize("name", ("dot", "strlen", "fir4"))
def test_conasm(name: str, golden: Callable[[str, str], None]) -> None:
    program, _ = specialize(module(name), member("silver"), spl="always")
    golden(f"{name}-silver", print_program(program, comparing.NAMELESS))


def test_the_same_bytes() -> None:
    first, again = (specialize(module("fir4"), member("silver"))[0] for _ in range(2))
    assert encode(first) == encode(again)
