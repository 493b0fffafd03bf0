# SPDX-License-Identifier: Apache-2.0
"""Integers of 64 bits that are the low 32 of an affine sum, extended by their sign: what C's `int` indices become.

The sum is over what stays in a loop, its counters, and products of these with it, exact modulo two to the 32. An
extension is written as `sext`, or as a shift to the left by 32 and more and one back, as LLVM prefers for multiples.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from polyloom.analysis.affine import Affine, atom_form
from polyloom.ir.ssa import Constant, Instruction, Operand, Value
from polyloom.ir.ssa_types import I32, I64
from polyloom.transform.ssa.body import Scope

_DEPTH: Final = 16
_HALF: Final = 32


Products = dict[Operand, tuple[Value, Value]]
"""By what stands for the product of a counter and of what stays: both."""


@dataclass(frozen=True, slots=True)
class Extended:
    """The low 32 bits of a sum with their sign, times two to the `shift`."""

    sum: Affine
    shift: int = 0


def match_extension(instruction: Instruction, scope: Scope, products: Products) -> Extended | None:
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
    if whole is None or not 0 < by.value <= _HALF or whole.zeros < _HALF:
        return None
    terms = tuple((value, factor >> _HALF) for value, factor in whole.terms)
    return Extended(Affine(whole.constant >> _HALF, terms), _HALF - by.value)


def _low(operand: Operand, scope: Scope, products: Products, depth: int) -> Affine | None:
    """Affine form modulo two to the 32 of an integer of 32 or 64 bits (truncation is a ring homomorphism, so that sums
    and products keep it).
    """
    if isinstance(operand, Constant):
        return Affine(operand.value)
    if not isinstance(operand, Value) or operand.type not in (I32, I64) or depth == 0:
        return None
    if scope.counts(operand):
        return atom_form(operand)
    if operand.name not in scope.defined:
        return _outer_sum(operand, scope)
    made = scope.forms.makers.get(operand.name)
    if made is None or made.operation not in ("add", "sub", "shl", "mul", "or", "trunc", "sext", "zext"):
        return None
    parts = [_low(each, scope, products, depth - 1) for each in made.operands]
    # Not affine: the index stays as it is.
    if any(part is None for part in parts):
        return None
    a, *rest = [part for part in parts if part is not None]
    if not rest:
        return a
    if made.operation == "mul" and a.terms and rest[0].terms:
        return _product(a, rest[0], scope, products) or _product(rest[0], a, scope, products)
    return _combine(made.operation, a, rest[0])


def _product(a: Affine, b: Affine, scope: Scope, products: Products) -> Affine | None:
    """What counts, times what stays."""
    if len(a.terms) != 1 or len(b.terms) != 1 or b.terms[0][1] != 1 or b.constant:
        return None
    (counter, factor), stays = a.terms[0], b.terms[0][0]
    is_product = scope.counts(counter) and not scope.counts(stays) and stays not in products
    if not is_product or not isinstance(counter, Value) or not isinstance(stays, Value):
        return None
    # No value of the source has such a name.
    product = Value(f"{counter.name}*{stays.name}", I64)
    products[product] = counter, stays
    return atom_form(product) * factor + atom_form(stays) * a.constant


def _outer_sum(value: Value, scope: Scope) -> Affine:
    """What stays, as a value and a constant where it is made so: rows next to each other share the value."""
    made = scope.around.get(value.name)
    of, by = made.operands if made is not None and made.operation == "add" else (None, None)
    return Affine(by.value, ((of, 1),)) if isinstance(of, Value) and isinstance(by, Constant) else atom_form(value)


def _combine(operation: str, a: Affine, b: Affine) -> Affine | None:
    match operation:
        case "add":
            return a + b
        case "sub":
            return a - b
        case "shl":
            return a * (1 << b.constant) if not b.terms and 0 <= b.constant < _HALF else None
        case "mul":
            a, b = (a, b) if not b.terms else (b, a)
            return a * b.constant if not b.terms else None
        case "or" if not b.terms and 0 <= b.constant < 1 << a.zeros:
            return a + b  # bits that are not set are added
        case _:
            return None
