# SPDX-License-Identifier: Apache-2.0
"""The static check by kinds finds exactly what the one by elements finds, which is its oracle: on configurations of the
compiler and on wires of its own, whole and damaged. And a right configuration never needs the one by elements."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import cache
from random import Random
from typing import Any, Final

import pytest
from tests.targets.tcpa.instantiate.library import instantiate
from tests.targets.tcpa.model.configurations import BITS, ID0, MACHINE, MOVE, OD0, box
from tests.targets.tcpa.sabotage.cases import CASES, mapped
from tests.targets.tcpa.sabotage.words import repaired

from polyloom import memory
from polyloom._native import tcpa
from polyloom.cli.bench import regions
from polyloom.diagnostics import PolyloomError
from polyloom.targets.tcpa import machine_file
from polyloom.targets.tcpa.machine import Machine
from polyloom.targets.tcpa.run import model
from polyloom.targets.tcpa.run.verify.verify_concrete import findings_by_element, verify
from polyloom.targets.tcpa.words import concrete_file
from polyloom.targets.tcpa.words.concrete import (
    ArrayLayout,
    Concrete,
    Connection,
    Controller,
    ElementProgram,
    Generator,
)
from polyloom.targets.tcpa.words.isa import Halt, Instruction

HOPS: Final = replace(MACHINE, hop_delay=1)
REGIONS: Final = (
    ("bits", (1, 5)),
    ("fir", (3, 4)),
    ("matmul", (3, 3)),
    ("trisolv", (5, 5)),
    ("syrk", (3, 3)),
)
COPY: Final = ElementProgram(((Instruction(MOVE, (OD0,), (ID0,), Halt()),), ()), (), (1,))
LATENCY: Final = dict(MACHINE.units[0].latencies)["move", "i32"]
FIRST_BYTE: Final = 60
"""After the header and the section table, whose damage tells nothing of the checks."""


def _copies(elements: str, controller: Controller, wrappers: dict[int, Connection], *banks: Generator) -> Concrete:
    """Elements in a row that copy one value; those of `elements` that are not `x` have no program."""
    return replace(
        BITS,
        machine_hash=machine_file.fingerprint(HOPS),
        initiation_interval=1,
        columns=len(elements),
        extents=(1,),
        controller=controller,
        classes=(COPY,),
        element_class=(tuple(0 if e == "x" else -1 for e in elements),),
        wrappers=((), *((w,) for w in wrappers.values())),
        wrapper=(tuple(list(wrappers).index(n) + 1 if n in wrappers else 0 for n in range(len(elements))),),
        generators=banks,
        arrays=(ArrayLayout("in", "i32", (), (), False), ArrayLayout("out", "i32", (4,), (1,), True)),
    )


def _out(side: str, position: int, word: int, delay: int, links: int = 0) -> Generator:
    assert side in concrete_file.SIDES
    return Generator(side, 0, position, 0, links, 1, word, (0,), delay, box(0, 0))


def _at_a_route_of_an_input() -> Concrete:
    """The value passes two elements on its way from the west to the last one; the second one takes it, too."""
    tap = {1: Connection((0, 0), (4, 0))}
    outputs = (_out("north", 1, 0, 1 + LATENCY), _out("north", 2, 1, 2 + LATENCY))
    source = Generator("west", 0, 0, 0, 2, 0, 0, (0,), 0, box(0, 0))
    return _copies("-xx", Controller(False, False, 0, 0, 1, 1, ()), tap, source, *outputs)


def _at_a_route_of_an_output() -> Concrete:
    """The last element's result leaves in the west; the first one takes it on its way, two elements on."""
    tap = {0: Connection((0, 0), (2, 0))}
    late = 2 * (LATENCY + 2)
    source = Generator("east", 0, 0, 1, 0, 0, 0, (0,), 0, box(0, 0))
    outputs = (_out("west", 0, 0, LATENCY + 2, 2), _out("north", 0, 1, late + LATENCY))
    return _copies("x-x", Controller(False, True, 0, 0, LATENCY + 2, 1, ()), tap, source, *outputs)


WIRES: Final = {"input": _at_a_route_of_an_input, "output": _at_a_route_of_an_output}


@cache
def _subjects() -> tuple[tuple[bytes, Machine], ...]:
    made = [
        (regions.instance(kernel, region, perfect=perfect), machine_file.load("paper" if kernel == "bits" else "ideal"))
        for kernel, region in REGIONS
        for perfect in (True, False)
    ]
    compiled = [
        (concrete_file.encode(instantiate(mapped(name, member), values, *region)), machine_file.load(member))
        for name, member, values, region in CASES
        if name not in ("conv", "matmul", "fir")
    ]
    return (*made, *compiled, *((concrete_file.encode(wires()), HOPS) for wires in WIRES.values()))


def _seen(result: tcpa.Result) -> tuple[Any, ...]:
    r = result.report
    return result.feedback_high, result.input_high, r.coverage, r.steps, r.shortest, r.wasted


def _compared(data: bytes, machine: Machine) -> str | None:
    """What the run by elements finds, after it has been compared; None where it is not even asked."""
    try:
        config = model.load(data, machine)
        by_kinds = model.execute_kinds(config, machine)
    except PolyloomError:
        return None
    try:
        (full,) = model.execute([(config, 0, 0, [])], machine, check_only=True)
    except PolyloomError as error:
        assert by_kinds is None, error.diagnostics
        return error.diagnostics[0].code
    if full.report.late or full.report.unread or full.report.idle:
        assert by_kinds is None
        return "places"
    if config.kinds_bytes() <= memory.available_bytes():
        assert by_kinds is not None
        assert _seen(by_kinds) == _seen(full)
    return "nothing"


def _damaged(data: bytes, random: Random) -> bytes:
    words = bytearray(data)
    for _ in range(random.choice((1, 1, 1, 2, 3))):
        at = random.randrange(FIRST_BYTE, len(data))
        value, other = data[at], data[random.randrange(FIRST_BYTE, len(data))]
        words[at] = random.choice((value ^ 1 << random.randrange(8), (value + 1) % 256, (value - 1) % 256, other))
    return repaired(bytes(words))


def test_whole_configurations() -> None:
    assert [_compared(data, machine) for data, machine in _subjects()] == ["nothing"] * len(_subjects())


@pytest.mark.parametrize("name", WIRES)
def test_wires_that_branch_off_a_route(name: str) -> None:
    """The delay of the hops is that of all links from the bank, or from the element, to the id."""
    data = concrete_file.encode(WIRES[name]())
    assert _compared(data, HOPS) == "nothing"
    without = replace(WIRES[name](), wrappers=((),), wrapper=((0, 0, 0),))
    assert _compared(concrete_file.encode(without), HOPS) == "PL0613"
    nearer = replace(WIRES[name](), machine_hash=machine_file.fingerprint(MACHINE))
    assert _compared(concrete_file.encode(nearer), MACHINE) in ("PL0620", "PL0621", "places")


def _look_at_damages(seed: int, count: int) -> Counter[str | None]:
    random = Random(seed)
    found = Counter[str | None]()
    for _ in range(count):
        data, machine = random.choice(_subjects())
        found[_compared(_damaged(data, random), machine)] += 1
    return found


def test_damaged_configurations() -> None:
    found = _look_at_damages(1, 1500)
    assert len(found) > 12  # most of the model's faults are among them
    assert min(found["nothing"], found["places"]) > 10


@pytest.mark.long
@pytest.mark.parametrize("seed", range(2, 12))
def test_more_damaged_configurations(seed: int) -> None:
    _look_at_damages(seed, 20_000)


def test_the_findings_are_those_by_element() -> None:
    """All rules together, messages included."""
    random = Random(2)
    wrong = 0
    for _ in range(300):
        data, machine = random.choice(_subjects())
        damaged = _damaged(data, random)
        found = verify(damaged, machine)
        assert found == findings_by_element(damaged, machine)
        wrong += bool(found)
    assert 250 < wrong < 300


def test_a_right_configuration_needs_no_look_at_each_element(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(data: bytes, machine: Machine) -> None:
        pytest.fail("each element was looked at")

    monkeypatch.setattr("polyloom.targets.tcpa.run.verify.verify_concrete.findings_by_element", never)
    for kernel in ("fir", "matmul", "trisolv", "syrk"):
        data = regions.instance(kernel, (96, 96), perfect=False)
        assert verify(data, machine_file.load("ideal")) == ()
