# SPDX-License-Identifier: Apache-2.0
"""A litmus test as data, and its text in the herd format, which `reader.read_litmus` reads back.

    test        ::= "RISCV" name  line*  "{" declaration* "}"  "P0" "|" ... ";"  row*  observation
    declaration ::= [type ["*"]] place ["=" ["&"] value] ";"        place ::= hart ":" register | name
    row         ::= cell "|" ... ";"                                cell  ::= (label ":")* [instruction]
    observation ::= ["locations" "[" (place ";")* "]"] ["filter" proposition] ["exists" | "forall" | "~exists"]
    [proposition]

Format: the documentation of the diy tool suite, part "Litmus tests and their formats".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Literal

from polyloom.diagnostics import Span
from polyloom.riscv.rvwmo.values import Constant

Quantifier = Literal["exists", "forall", "~exists"]


@dataclass(frozen=True, slots=True, order=True)
class Register:
    """Register x`number` of a hart, and how the test spells it (`written`; empty: as x`number`)."""

    hart: int
    number: int
    written: str = field(default="", compare=False, repr=False)

    @property
    def spelling(self) -> str:
        return self.written or f"x{self.number}"

    def __str__(self) -> str:
        return f"{self.hart}:x{self.number}"


Place = Register | str
"""A register, or a memory location by name."""


@dataclass(frozen=True, slots=True)
class Declaration:
    """A place's C type (None: not given), whether it is a pointer to that type, and its initial value (None: 0)."""

    place: Place
    value: Constant | None = None
    type: str | None = None
    pointer: bool = False
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Instruction:
    """A mnemonic with its operands as text: `lw` with `x5` and `0(x6)`."""

    mnemonic: str
    operands: tuple[str, ...] = ()
    span: Span | None = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        return f"{self.mnemonic} {','.join(self.operands)}".rstrip()


@dataclass(frozen=True, slots=True)
class Statement:
    """Labels, and the instruction behind them; None where a hart ends in labels."""

    instruction: Instruction | None
    labels: tuple[str, ...] = ()

    def __str__(self) -> str:
        # Labels stand before their instruction, as in the herd format.
        return " ".join(
            [*(f"{label}:" for label in self.labels), *([str(self.instruction)] if self.instruction else [])]
        )


@dataclass(frozen=True, slots=True)
class Equal:
    """The final value of a place equals a constant."""

    place: Place
    value: Constant
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Not:
    operand: Proposition


@dataclass(frozen=True, slots=True)
class And:
    """True without operands."""

    operands: tuple[Proposition, ...] = ()


@dataclass(frozen=True, slots=True)
class Or:
    """False without operands."""

    operands: tuple[Proposition, ...] = ()


Proposition = Equal | Not | And | Or


@dataclass(frozen=True, slots=True)
class Litmus:
    """Litmus test. `info` is what stands between the name and the initial state; `harts` has one program per hart."""

    name: str
    harts: tuple[tuple[Statement, ...], ...]
    declarations: tuple[Declaration, ...]
    quantifier: Quantifier
    condition: Proposition
    locations: tuple[Place, ...] = ()
    filter: Proposition | None = None
    info: tuple[str, ...] = ()


def mentioned_places(proposition: Proposition) -> frozenset[Place]:
    """The registers and locations that a proposition mentions."""
    if isinstance(proposition, Equal):
        return frozenset({proposition.place})
    parts = (proposition.operand,) if isinstance(proposition, Not) else proposition.operands
    return frozenset[Place]().union(*map(mentioned_places, parts))


def holds(proposition: Proposition, equal: Callable[[Equal], bool]) -> bool:
    """Truth of a proposition, from the truth of its equations."""
    match proposition:
        case Equal():
            return equal(proposition)
        case Not(operand):
            return not holds(operand, equal)
        case And(operands):
            return all(holds(operand, equal) for operand in operands)
        case Or(operands):
            return any(holds(operand, equal) for operand in operands)


def print_litmus(test: Litmus) -> str:
    """Text of a test in the herd format, which reads back to an equal one."""
    lines = [f"RISCV {test.name}", *test.info, "{", *(f" {_declaration(d)};" for d in test.declarations), "}"]
    lines += _program(test)
    if test.locations:
        lines.append(f"locations [{' '.join(f'{_place(place)};' for place in test.locations)}]")
    if test.filter is not None:
        lines.append(f"filter {_proposition(test.filter)}")
    return "\n".join([*lines, f"{test.quantifier} {_proposition(test.condition)}", ""])


def _program(test: Litmus) -> Iterator[str]:
    columns = [[f"P{hart}", *map(str, program)] for hart, program in enumerate(test.harts)]
    widths = [max(map(len, column)) for column in columns]
    for row in zip_longest(*columns, fillvalue=""):
        yield " " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " ;"


def _declaration(declaration: Declaration) -> str:
    star = "*" if declaration.pointer else ""
    head = f"{declaration.type} {star}{declaration.place}" if declaration.type else f"{star}{declaration.place}"
    return head if declaration.value is None else f"{head}={declaration.value}"


def _place(place: Place) -> str:
    return f"[{place}]" if isinstance(place, str) else str(place)


def _proposition(proposition: Proposition) -> str:
    match proposition:
        case Equal(place, value):
            return f"{_place(place)}={value}"
        case Not(operand):
            return f"not ({_proposition(operand)})"
        case And(operands) | Or(operands) if operands:
            return "(" + (" /\\ " if isinstance(proposition, And) else " \\/ ").join(map(_proposition, operands)) + ")"
        case And():
            return "true"
        case Or():
            return "false"
