# SPDX-License-Identifier: Apache-2.0
"""Integers of 64 bits that are the low 32 of a linear sum, extended by their sign: what C's `int` indices become.

The sum is over what stays in a loop, its counters, and products of these with it, exact modulo two to the 32. An
extension is written as `sext`, or as a shift to the left by 32 and more and one back, as LLVM prefers for multiples.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from polyloom.ir.ssa import Constant, Instruction, Operand, Value
from polyloom.ir.ssa_types import I32, I64
from polyloom.transform.ssa.linear import Linear, Scope

_DEPTH: Final = 16
_HALF: Final = 32


Products = dict[Value, tuple[Value, Value]]
"""By what stands for the product of a counter and of what stays: both."""


@dataclass(frozen=True, slots=True)
class Extended:
    """The low 32 bits of a sum with their sign, times two to the `shift`."""

    sum: Linear
    shift: int = 0


def extended(instruction: Instruction, scope: Scope, products: Products) -> Extended | None:
    """What the instruction's result is, where it is such an integer; products that are new are added."""
    result = instruction.result
    if result is None or result.type != I64:
        return None
    first = instruction.operands[0] if instruction.operands else None
    if instruction.operation == "sext" and first is not None and first.type == I32:
        found = _low(first, scope, products, _DEPTH)
        return Extended(found) if found is not None else None
    if instruction.operation != "ashr" or not isinstance(by := instruction.operands[1], Constant):
        return None
    whole = scope.integer(instruction.operands[0])
    if whole is None or not 0 < by.value <= _HALF or _zeros(whole) < _HALF:
        return None
    terms = tuple((value, factor >> _HALF) for value, factor in whole.terms)
    return Extended(Linear(terms, whole.constant >> _HALF), _HALF - by.value)


def _low(operand: Operand, scope: Scope, products: Products, depth: int) -> Linear | None:
    """An integer of 32 or 64 bits modulo two to the 32."""
    if isinstance(operand, Constant):
        return Linear((), operand.value)
    if not isinstance(operand, Value) or operand.type not in (I32, I64) or depth == 0:
        return None
    if operand.name in scope.counting:
        return Linear(((operand, 1),))
    if operand.name not in scope.defined:
        return _apart(operand, scope)
    made = scope.made.get(operand.name)
    if made is None or made.operation not in ("add", "sub", "shl", "mul", "or", "trunc", "sext", "zext"):
        return None
    parts = [_low(each, scope, products, depth - 1) for each in made.operands]
    if any(part is None for part in parts):
        return None
    a, *rest = [part for part in parts if part is not None]
    if not rest:
        return a
    if made.operation == "mul" and a.terms and rest[0].terms:
        return _product(a, rest[0], scope, products) or _product(rest[0], a, scope, products)
    return _combined(made.operation, a, rest[0])


def _product(a: Linear, b: Linear, scope: Scope, products: Products) -> Linear | None:
    """What counts, times what stays."""
    if len(a.terms) != 1 or len(b.terms) != 1 or b.terms[0][1] != 1 or b.constant:
        return None
    (counter, factor), stays = a.terms[0], b.terms[0][0]
    if counter.name not in scope.counting or stays.name in scope.counting or stays in products:
        return None
    # No value of the source has such a name.
    product = Value(f"{counter.name}*{stays.name}", I64)
    products[product] = counter, stays
    return Linear(((product, factor),)).plus(Linear(((stays, a.constant),)))


def _apart(value: Value, scope: Scope) -> Linear:
    """What stays, as a value and a constant where it is made so: rows next to each other share the value."""
    made = scope.around.get(value.name)
    of, by = made.operands if made is not None and made.operation == "add" else (None, None)
    return Linear(((of, 1),), by.value) if isinstance(of, Value) and isinstance(by, Constant) else Linear(((value, 1),))


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
