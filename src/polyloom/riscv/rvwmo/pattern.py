# SPDX-License-Identifier: Apache-2.0
"""Litmus patterns of a function: a second hart beside it that sees the order of two of its accesses, in the tests LB, S
and MP (Alglave, Maranget and Tautschnig 2014).

The first access is a volatile or atomic load that reads what the other hart writes last. The second one, to another
location, is a store (LB: the other hart reads it first; S: it stores there first) or a load (MP: the other hart stores
there first). The other hart keeps its order by a fence, so that the state of the condition is allowed exactly if the
function does not keep its own.

Not every pair is worth a test: the function is run alone first, on the value that the load is to read. Both accesses
have to take place.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from polyloom.diagnostics import input_error
from polyloom.ir.ssa import Function
from polyloom.riscv.names import Isa
from polyloom.riscv.rvwmo.check import judge
from polyloom.riscv.rvwmo.litmus import And, Declaration, Equal, Instruction, Litmus, Place, Register, Statement
from polyloom.riscv.rvwmo.lower import LETTERS, Access, Program, lower_function
from polyloom.riscv.rvwmo.values import Pointer

Shape = Literal["LB", "S", "MP"]
_SECOND, _FIRST, _VALUE, _SEEN = 6, 7, 5, 10
"""The other hart's registers: addresses of the function's second and first access, what it writes and reads."""


@dataclass(frozen=True, slots=True)
class _Pair:
    """Two accesses of the program, the locations that they are meant to have, and the value that the first one, a load,
    is to read.
    """

    load: Access
    second: Access
    source: str
    target: str
    value: int


def litmus_tests(function: Function, isa: Isa, values: Mapping[str, int]) -> tuple[Litmus, ...]:
    """Litmus tests of `function`; `values` has those of its integer parameters, and what the other hart writes to a
    location (1 unless given).

    Errors: PL0947 for what cannot be lowered, PL0948 for a missing or unknown value, PL0949 where there is nothing to
    test.
    """
    program = lower_function(function, isa, values)
    known = {p.name for p in function.parameters} | program.shared
    if unknown := [name for name in values if name not in known]:
        raise input_error(
            "PL0948",
            f"{function.name} has no parameter '{unknown[0]}'",
            help=f"it has {', '.join(sorted(known)) or 'none'}",
        )
    tests = {
        test.name: test for pair in _access_pairs(program, values) for test in _pair_tests(function.name, program, pair)
    }
    if not tests:
        help = (
            "a volatile or atomic load, and later an access to another location, both through pointers; x=5 lets "
            "the other hart write 5 to x"
        )
        raise input_error(
            "PL0949", f"{function.name} makes no two accesses whose order another hart could see", help=help
        )
    return tuple(tests.values())


def _access_pairs(program: Program, values: Mapping[str, int]) -> Iterator[_Pair]:
    for n, load in enumerate(program.accesses):
        for second in program.accesses[n + 1 :] if load.number is not None and load.racy else ():
            for source in sorted(load.locations & program.shared):
                for target in sorted(second.locations & program.shared - {source}):
                    yield _Pair(load, second, source, target, values.get(source, 1))


def _pair_tests(name: str, program: Program, pair: _Pair) -> Iterator[Litmus]:
    """Tests of a pair of accesses; none where the function, run alone, does not make both."""
    assert pair.load.number is not None
    read = Equal(Register(0, pair.load.number), pair.value)
    if pair.second.number is None:
        # Two initial values: a store of the value that is there already could not be seen.
        # The values that the target may hold at the start.
        for before in (0, 1):
            stored = _single_hart_value(program, pair, before, pair.target)
            if stored not in (None, before):
                seen = Equal(Register(1, _SEEN), stored)
                yield _build_test(name, "LB", program, pair, before, _reading_hart(pair), And((read, seen)))
                other = next(n for n in (2, 3) if n != stored)
                yield _build_test(
                    name, "S", program, pair, before, _writing_hart(pair, other), And((read, Equal(pair.target, other)))
                )
                return
    else:
        place = Register(0, pair.second.number)
        if _single_hart_value(program, pair, 2, place) == 2:
            yield _build_test(name, "MP", program, pair, 0, _writing_hart(pair, 2), And((read, Equal(place, 0))))


def _single_hart_value(program: Program, pair: _Pair, before: int, place: Place) -> int | None:
    """Final value of `place` in a run without another hart, where memory holds what that would write; None where the
    load is not made.
    """
    assert pair.load.number is not None
    memory = (Declaration(pair.source, pair.value), Declaration(pair.target, before))
    load = Register(0, pair.load.number)
    verdict = judge(
        Litmus("alone", (program.statements,), (*program.declarations, *memory), "forall", And(), (load, place))
    )
    if len(verdict.states) != 1 or f"{load}={pair.value};" not in verdict.states[0].split(" "):
        return None
    shown = f"[{place}]" if isinstance(place, str) else str(place)
    found = dict(part.split("=") for part in verdict.states[0].replace(";", "").split(" "))[shown]
    return int(found) if found.lstrip("-").isdecimal() else None


def _reading_hart(pair: _Pair) -> tuple[Instruction, ...]:
    return (
        _load_instruction(pair.second.width),
        Instruction("fence", ("rw", "rw")),
        *_store_instructions(pair.value, pair.load.width, _FIRST),
    )


def _writing_hart(pair: _Pair, other: int) -> tuple[Instruction, ...]:
    return (
        *_store_instructions(other, pair.second.width, _SECOND),
        Instruction("fence", ("w", "w")),
        *_store_instructions(pair.value, pair.load.width, _FIRST),
    )


def _load_instruction(width: int) -> Instruction:
    return Instruction(f"l{LETTERS[width]}", (f"x{_SEEN}", f"0(x{_SECOND})"))


def _store_instructions(value: int, width: int, address: int) -> tuple[Instruction, ...]:
    return Instruction("li", (f"x{_VALUE}", str(value))), Instruction(
        f"s{LETTERS[width]}", (f"x{_VALUE}", f"0(x{address})")
    )


def _build_test(
    name: str, shape: Shape, program: Program, pair: _Pair, before: int, other: tuple[Instruction, ...], condition: And
) -> Litmus:
    """The whole test; its name tells the registers of the loads."""
    places = (
        f"{pair.source}-x{pair.load.number}",
        pair.target if pair.second.number is None else f"{pair.target}-x{pair.second.number}",
    )
    declarations = (
        *program.declarations,
        *((Declaration(pair.target, before),) if before else ()),
        Declaration(Register(1, _SECOND), Pointer(pair.target)),
        Declaration(Register(1, _FIRST), Pointer(pair.source)),
    )
    return Litmus(
        "+".join((name, shape, *places)),
        (program.statements, tuple(map(Statement, other))),
        declarations,
        "exists",
        condition,
    )
