# SPDX-License-Identifier: Apache-2.0
"""Normal forms of comparisons of integers: constants last, strict relations, and no condition compared with 0."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from polyloom.ir.ssa import Constant, Instruction, Operand, Undef, Value, integer_constant
from polyloom.ir.ssa_semantics import unsigned
from polyloom.ir.ssa_types import I1, INTEGERS

MIRRORED: Final = {
    "eq": "eq",
    "ne": "ne",
    **{
        f"{sign}{a}": f"{sign}{b}" for sign in "su" for a, b in (("lt", "gt"), ("gt", "lt"), ("le", "ge"), ("ge", "le"))
    },
}
"""A comparison with its operands exchanged."""
NEGATED: Final = {
    "eq": "ne",
    "ne": "eq",
    **{
        f"{sign}{a}": f"{sign}{b}" for sign in "su" for a, b in (("lt", "ge"), ("ge", "lt"), ("le", "gt"), ("gt", "le"))
    },
}
Makers = Mapping[str, Instruction]
"""By value the instruction that makes it."""


def simplify_comparison(instruction: Instruction, makers: Makers) -> Operand | Instruction | None:
    """Normal forms of comparisons (LLVM's InstCombine does the same): the condition that a comparison of integers or
    pointers equals, a comparison in its normal form, or None.
    """
    a, b = instruction.operands
    if a == b and not isinstance(a, Undef):
        return Constant(I1, int(instruction.operation[-2:] in ("eq", "le", "ge")))
    if isinstance(a, Constant) and not isinstance(b, Constant):
        return replace(instruction, operation=MIRRORED[instruction.operation], operands=(b, a))
    if (strict := _strict(instruction)) is not None:
        return strict
    inner = makers.get(a.name) if isinstance(a, Value) else None
    is_zero = isinstance(b, Constant) and b.value == 0
    if inner is None or not is_zero or instruction.operation not in ("eq", "ne"):
        return None
    # A condition as a number, compared with 0: the condition itself, or its opposite.
    if inner.operation == "zext" and inner.operands[0].type == I1:
        if instruction.operation == "ne":
            return inner.operands[0]
        return Instruction(
            "xor", (inner.operands[0], integer_constant(I1, 1)), instruction.results, place=instruction.place
        )
    return None


def _strict(instruction: Instruction) -> Instruction | None:
    """x >= c as x > c - 1, and x <= c as x < c + 1, where that is a number: one form for both."""
    b, operation = instruction.operands[1], instruction.operation
    if not isinstance(b, Constant) or operation[1:] not in ("ge", "le") or b.type not in INTEGERS or b.type == I1:
        return None
    moved = b.value + (1 if operation.endswith("le") else -1)
    bound = integer_constant(b.type, moved)
    view = unsigned(b.type, b.value) + moved - b.value if operation[0] == "u" else moved
    known = unsigned(b.type, moved) if operation[0] == "u" else bound.value
    # Where c - 1 or c + 1 wraps around there is no strict form: the comparison is always true.
    if view != known:
        return None
    return replace(
        instruction,
        operation=operation[0] + ("lt" if operation.endswith("le") else "gt"),
        operands=(instruction.operands[0], bound),
    )
