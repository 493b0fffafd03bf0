# SPDX-License-Identifier: Apache-2.0
"""Random programs: the native model and its Python twin end alike, in results, memory and bundles, or in one fault."""

from __future__ import annotations

import re
from collections import Counter
from contextlib import suppress
from random import Random

import numpy as np
import pytest
from tests.targets.belt.run.programs import Draw, file
from tests.targets.belt.run.twin import BASE, Fault, Twin, Value, with_drops

from polyloom.diagnostics import PolyloomError
from polyloom.targets.belt import machine as machines
from polyloom.targets.belt.machine import Machine
from polyloom.targets.belt.run import model
from polyloom.targets.belt.words.program import Program

_BUNDLES = 60
_DRAWS = 50
_PLACE = re.compile(r"bundle (\d+)(?:, (\w+) \w+)?: ")


def arguments(random: Random) -> list[int]:
    return [BASE, random.randrange(1 << 32), random.randrange(8)]


def native(program: Program, memory: bytes, given: list[int]) -> tuple[object, ...]:
    array = np.frombuffer(bytearray(memory), np.uint8)
    try:
        run = model.run(file(program), [array, *given[1:]], max_cycles=_BUNDLES)
    except PolyloomError as error:
        (diagnostic,) = error.diagnostics
        place = _PLACE.search(diagnostic.message)
        found = (int(place[1]), place[2] or "") if place else ()
        return diagnostic.code, *found, array.tobytes()
    return plain(run.results), run.cycles, array.tobytes()


def plain(results: tuple[tuple[object, ...], ...]) -> list[list[object]]:
    """NaRs compare by being some."""
    return [[x if isinstance(x, int) or x is None else "NaR" for x in lanes] for lanes in results]


def in_python(program: Program, machine: Machine, memory: bytes, given: list[int]) -> tuple[object, ...]:
    twin = Twin(program, machine, bytearray(memory), _BUNDLES)
    try:
        results = twin.run([Value(32, (argument,)) for argument in given])
    except Fault as fault:
        return *fault.place, bytes(twin.memory)
    if results is None:
        return "PL1059", bytes(twin.memory)
    return plain(tuple(v.lanes for v in results)), twin.cycles, bytes(twin.memory)


def measured(program: Program, machine: Machine, memory: bytes, given: list[int]) -> Program:
    """With headers that count what drops."""
    twin = Twin(program, machine, bytearray(memory), _BUNDLES, checks_drops=False)
    with suppress(Fault):
        twin.run([Value(32, (argument,)) for argument in given])
    return with_drops(program, twin.seen)


def drawn(seed: int, name: str, phasing: bool) -> Counter[str]:
    """How the program ended, after both agreed."""
    random, machine = Random(seed), machines.member(name, phasing)
    memory, given = random.randbytes(64), arguments(random)
    program = measured(Draw(random, machine).program(), machine, memory, given)
    expected = in_python(program, machine, memory, given)
    assert native(program, memory, given) == expected, (seed, name, phasing)
    return Counter([expected[0] if isinstance(expected[0], str) else "returned"])


_MACHINES = pytest.mark.parametrize("name", ["tin", "silver", "gold", "unit"])
_PHASING = pytest.mark.parametrize("phasing", [True, False])


@pytest.mark.long
@_PHASING
@_MACHINES
def test_native_and_python_end_alike_for_long(name: str, phasing: bool) -> None:
    for seed in range(_DRAWS, 50 * _DRAWS):
        drawn(seed, name, phasing)


@_PHASING
@_MACHINES
def test_native_and_python_end_alike(name: str, phasing: bool) -> None:
    ends = sum((drawn(seed, name, phasing) for seed in range(_DRAWS)), Counter[str]())
    assert ends["returned"] >= 10, ends
    assert len(ends) >= 3, ends
