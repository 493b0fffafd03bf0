# SPDX-License-Identifier: Apache-2.0
"""Integers of 64 bits that are the low 32 of a linear sum, extended by their sign: what C's `int` indices become.

The sum is over what stays in a loop and its counter, exact modulo two to the 32. An extension is written as `sext`, or
as a shift to the left by 32 and more and one back, as LLVM prefers for multiples.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from polyloom.ir.ssa import Constant, Instruction, Operand, Value
from polyloom.ir.ssa_types import I32, I64
from polyloom.transform.ssa.linear import Linear, Scope

_DEPTH: Final = 16
_HALF: Final = 32


@dataclass(frozen=True, slots=True)
class Extended:
    """The low 32 bits of a sum with their sign, times two to the `shift`."""

    sum: Linear
    shift: int = 0


def extended(instruction: Instruction, scope: Scope) -> Extended | None:
    """What the instruction's result is, where it is such an integer."""
    result = instruction.result
    if result is None or result.type != I64:
        return None
    first = instruction.operands[0] if instruction.operands else None
    if instruction.operation == "sext" and first is not None and first.type == I32:
        found = _low(first, scope, _DEPTH)
        return Extended(found) if found is not None else None
    if instruction.operation != "ashr" or not isinstance(by := instruction.operands[1], Constant):
        return None
    whole = scope.integer(instruction.operands[0])
    if whole is None or not 0 < by.value <= _HALF or _zeros(whole) < _HALF:
        return None
    terms = tuple((value, factor >> _HALF) for value, factor in whole.terms)
    return Extended(Linear(terms, whole.constant >> _HALF), _HALF - by.value)


def _low(operand: Operand, scope: Scope, depth: int) -> Linear | None:
    """An integer of 32 or 64 bits modulo two to the 32."""
    if isinstance(operand, Constant):
        return Linear((), operand.value)
    if not isinstance(operand, Value) or operand.type not in (I32, I64) or depth == 0:
        return None
    if operand.name in scope.counting or operand.name not in scope.defined:
        return Linear(((operand, 1),))
    made = scope.made.get(operand.name)
    if made is None or made.operation not in ("add", "sub", "shl", "mul", "or", "trunc", "sext", "zext"):
        return None
    parts = [_low(each, scope, depth - 1) for each in made.operands]
    if any(part is None for part in parts):
        return None
    a, *rest = [part for part in parts if part is not None]
    return a if not rest else _combined(made.operation, a, rest[0])


def _combined(operation: str, a: Linear, b: Linear) -> Linear | None:
    match operation:
        case "add":
            return a.plus(b)
        case "sub":
            return a.plus(b, -1)
        case "shl":
            return Linear().plus(a, 1 << b.constant) if not b.terms and 0 <= b.constant < _HALF else None
        case "mul":
            a, b = (a, b) if not b.terms else (b, a)
            return Linear().plus(a, b.constant) if not b.terms else None
        case "or" if not b.terms and 0 <= b.constant < 1 << _zeros(a):
            return a.plus(b)  # bits that are not set are added
        case _:
            return None


def _zeros(sum: Linear) -> int:
    """How many low bits are 0 whatever the values are."""
    every = 0
    for number in (sum.constant, *(factor for _, factor in sum.terms)):
        every |= number
    return (every & -every).bit_length() - 1 if every else _HALF
