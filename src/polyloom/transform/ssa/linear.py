# SPDX-License-Identifier: Apache-2.0
"""Addresses of a loop as linear functions: what stays, plus a multiple of a variable that counts, plus a constant.

Everything is modulo two to the width of an address, where sums, differences, and products by constants are exact
whatever wraps: no flag is looked at.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass, field
from typing import Final

from polyloom.ir.ssa import Address, Constant, Instruction, Operand, Undef, Value
from polyloom.ir.ssa_types import Type

_DEPTH: Final = 16
"""Operations that are looked through."""


@dataclass(frozen=True, slots=True)
class Linear:
    """The sum of the values, each times its factor, and of the constant."""

    terms: tuple[tuple[Value, int], ...] = ()
    constant: int = 0

    def plus(self, other: Linear, factor: int = 1) -> Linear:
        sums = dict(self.terms)
        for value, by in other.terms:
            sums[value] = sums.get(value, 0) + by * factor
        kept = sorted(((v, by) for v, by in sums.items() if by), key=lambda term: term[0].name)
        return Linear(tuple(kept), self.constant + other.constant * factor)


@dataclass(frozen=True, slots=True)
class Scope:
    """A loop: its instructions by the name of their result, all names that it defines, and those of its variables that
    count; `around` are instructions of the whole function, for those who look at what stays."""

    made: Mapping[str, Instruction]
    defined: Set[str]
    counting: Set[str]
    address: Type
    around: Mapping[str, Instruction] = field(default_factory=dict[str, Instruction])

    def stays(self, operand: Operand) -> bool:
        return not isinstance(operand, Undef) and not (isinstance(operand, Value) and operand.name in self.defined)

    def integer(self, operand: Operand, depth: int = _DEPTH) -> Linear | None:
        """An integer as wide as an address, or None where it is not linear in what counts and what stays."""
        if isinstance(operand, Constant):
            return Linear((), operand.value)
        if not isinstance(operand, Value) or operand.type != self.address or depth == 0:
            return None
        if operand.name in self.counting or operand.name not in self.defined:
            return Linear(((operand, 1),))
        made = self.made.get(operand.name)
        if made is not None and made.operation == "copy":
            return self.integer(made.operands[0], depth - 1)
        if made is None or made.operation not in ("add", "sub", "shl", "mul"):
            return None
        a, b = (self.integer(each, depth - 1) for each in made.operands)
        if a is None or b is None:
            return None
        match made.operation:
            case "add":
                return a.plus(b)
            case "sub":
                return a.plus(b, -1)
            case "shl":
                return Linear().plus(a, 1 << b.constant) if not b.terms and 0 <= b.constant < 64 else None
            case _:
                a, b = (a, b) if not b.terms else (b, a)
                return Linear().plus(a, b.constant) if not b.terms else None

    def pointer(self, operand: Operand, depth: int = _DEPTH) -> tuple[Value | Address, Linear] | None:
        """A pointer that stays, and a distance from it."""
        if self.stays(operand):
            return (operand, Linear()) if isinstance(operand, Value | Address) else None
        made = self.made.get(operand.name) if isinstance(operand, Value) else None
        if made is not None and made.operation == "copy" and depth > 0:
            return self.pointer(made.operands[0], depth - 1)
        if made is None or made.operation != "offset" or depth == 0:
            return None
        base, distance = self.pointer(made.operands[0], depth - 1), self.integer(made.operands[1])
        return (base[0], base[1].plus(distance)) if base is not None and distance is not None else None
