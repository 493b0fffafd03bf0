# SPDX-License-Identifier: Apache-2.0
"""One number of a program changed by one, its checksum right: the verifier, a fault of the model or the comparison with
the interpreter notices, or the changed operand is shown to be the same value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np
import pytest
from tests.targets.belt.map.vectorize.test_vectorize import functions
from tests.targets.belt.words.sabotaged import LONGER, Arguments, Place, changes, inputs, module

from polyloom.diagnostics import PolyloomError
from polyloom.ir.signature import Signature
from polyloom.targets.belt import machine as machines
from polyloom.targets.belt.compile import specialize
from polyloom.targets.belt.isa import OPS
from polyloom.targets.belt.map.import_ssa import Options, import_function
from polyloom.targets.belt.run import model
from polyloom.targets.belt.run.timeline import entry_state
from polyloom.targets.belt.source.interpret import interpret
from polyloom.targets.belt.source.ir import Module
from polyloom.targets.belt.words import belt_file
from polyloom.targets.belt.words.program import Belt, Program
from polyloom.targets.belt.words.shapes import Item
from polyloom.targets.belt.words.verify import verify
from polyloom.targets.belt.words.walk import Seen, make_walker

PROGRAMS = [
    *(("clipped", "silver"), ("dot", "silver"), ("fir4", "silver"), ("iir", "silver"), ("search", "silver")),
    *(("strcpy", "silver"), ("strlen", "silver"), ("dot", "gold"), ("iir", "copper")),
    pytest.param("fir4", "gold", marks=pytest.mark.long),
]
WRITTEN = {"strlen": "length", "dot": "dot"}
"""In C."""
NAMELESS = Signature("f", (), (), ())
Outcome = tuple[list[object], list[bytes]]


def outcome(data: bytes, arguments: Arguments) -> Outcome:
    given = copied(arguments)
    ran = model.run(data, given, max_cycles=5000)
    return [lane for lanes in ran.results for lane in lanes], arrays(given)


def expected(right: Module, arguments: Arguments) -> Outcome:
    given = copied(arguments)
    results = interpret(right, given).results
    return [lane for lanes in results for lane in lanes], arrays(given)


def copied(arguments: Arguments) -> Arguments:
    return [cast("Any", a).copy() if isinstance(a, np.ndarray) else a for a in arguments]


def arrays(given: Arguments) -> list[bytes]:
    return [cast("Any", a).tobytes() for a in given if isinstance(a, np.ndarray)]


def is_noticed(program: Program, cases: Sequence[tuple[Arguments, Outcome]]) -> bool:
    try:
        data = belt_file.write(program, NAMELESS)
        return bool(verify(program)) or any(outcome(data, given) != right for given, right in cases)
    except PolyloomError:
        return True


@pytest.mark.parametrize(("name", "member"), PROGRAMS)
def test_a_change_by_one_is_noticed(name: str, member: str) -> None:
    right = module(name)
    program, _ = specialize(right, machines.member(member), spl="always")
    check(program, [(given, expected(right, given)) for given in inputs(name)])


@pytest.mark.parametrize("name", ["strlen", "dot"])
def test_a_change_by_one_is_noticed_among_vectors(name: str) -> None:
    silver = machines.member("silver")
    vectors = import_function(functions()[WRITTEN[name]], silver, Options(vectorize="always"))
    program, _ = specialize(vectors, silver, spl="always")
    check(program, [(given, expected(vectors, given)) for given in inputs(name, LONGER)])


def check(program: Program, cases: Sequence[tuple[Arguments, Outcome]]) -> None:
    assert verify(program) == []
    assert not is_noticed(program, cases)
    missed = [place for place, made in changes(program) if not is_noticed(made, cases)]
    assert [place for place in missed if not same_value(program, place, dict(changes(program))[place])] == []


def same_value(program: Program, place: Place, made: Program) -> bool:
    """Whether an operation in a loop reads what it would have read: another fill of the same invariant, a second fill
    of a byte in the bundle, or a recur beside its source."""
    r, b, n, k = place
    if n < 0 or k < 0:
        return False
    old, new = (p.routines[r].bundles[b].issues[n].operands[k] for p in (program, made))
    loops = [(first, size) for first, size in program.routines[r].loops if first <= b < first + size]
    if not loops or not isinstance(old, Belt) or not isinstance(new, Belt):
        return False
    return _origin(program, made, place, loops[0]) == _origin(program, program, place, loops[0])


def _origin(program: Program, made: Program, place: Place, loop: tuple[int, int]) -> object:
    """Of the operand, once the loop has settled."""
    r, b, n, k = place
    routine, machine = made.routines[r], machines.read(made.description, made.member)
    first, size = loop
    state = entry_state(made, routine, machine, first)
    assert state is not None
    steps, at, sources = make_walker(made, routine, machine, 200, tags=True), first, dict[Item, Item]()
    for _ in range(100 * size):
        seen = steps.step(at, state)
        if at == b and state.passes == 99:
            return _settled(program, r, seen.operands[routine.bundles[b].issues[n]][k], sources)
        _recurs(seen, state.passes, at, made, r, sources)
        at, state = next((n, s) for n, s in reversed(seen.next) if len(s.scopes) == len(state.scopes))
    raise AssertionError("the loop has no such bundle")


def _recurs(seen: Seen, passes: int, at: int, made: Program, r: int, sources: dict[Item, Item]) -> None:
    for issue, operands in seen.operands.items():
        if issue.name == "recur":
            number = made.routines[r].bundles[at].issues.index(issue)
            given = next((i for i in seen.dropped if i.tag == (passes, at, number, 0)), None)
            sources |= {given: operands[0]} if given else {}


def _settled(program: Program, r: int, item: Item, sources: Mapping[Item, Item]) -> object:
    while item in sources:
        item = sources[item]
    if not item.tag:
        return item
    passes, at, number, _ = item.tag
    issue = program.routines[r].bundles[at].issues[number]
    if OPS[issue.name].unit != "fill":
        return item.tag
    return (issue.name, issue.offset) if issue.name == "fillx" else (issue.name, issue.offset, passes, at)
