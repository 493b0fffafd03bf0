# SPDX-License-Identifier: Apache-2.0
"""Small questions to terms: their types, and what they add and multiply."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from polyloom.analysis.dataflow import Apply, Leaf, Sum, Term
from polyloom.ir.operations import BY_NAME, ElementType


def type_of(term: Term, types: Mapping[str, ElementType]) -> ElementType | None:
    """Of an element-wise term's value; None of numbers alone."""
    if isinstance(term, Leaf):
        return types[term.array]
    if not isinstance(term, Apply):
        return None
    operand = operand_type(term, types)
    return None if operand is None else BY_NAME[term.operation].result(operand)


def operand_type(term: Apply, types: Mapping[str, ElementType]) -> ElementType | None:
    """All operands have one type, but for the condition of a choice."""
    operands = term.operands[1:] if term.operation == "select" else term.operands
    return next((found for o in operands if (found := type_of(o, types)) is not None), None)


def signed(term: Term) -> tuple[Term, bool]:
    """A sum that is taken away from nothing, and that it is."""
    if isinstance(term, Apply) and term.operation == "neg" and isinstance(term.operands[0], Sum):
        return term.operands[0], True
    return term, False


def addends(term: Term, *, is_less: bool) -> list[tuple[Term, bool]]:
    """What is added in each step, and which of it is taken away."""
    if isinstance(term, Apply) and term.operation == "neg":
        return addends(term.operands[0], is_less=not is_less)
    if isinstance(term, Apply) and term.operation in ("add", "sub"):
        one, other = term.operands
        return [*addends(one, is_less=is_less), *addends(other, is_less=is_less != (term.operation == "sub"))]
    return [(term, is_less)]


def added_to(begins: Term | None, summed: Term, *, is_less: bool) -> Term:
    if begins is None:
        return Apply("neg", (summed,)) if is_less else summed
    return Apply("sub" if is_less else "add", (begins, summed))


def unconverted(term: Term) -> Term:
    """Without a conversion."""
    return term.operands[0] if isinstance(term, Apply) and term.operation.startswith("to_") else term


def factors_of(term: Term) -> list[Term]:
    if isinstance(term, Apply) and term.operation == "mul":
        return [factor for operand in term.operands for factor in factors_of(operand)]
    return [term]


def multiplied(factors: Sequence[Term]) -> Term:
    made = factors[0]
    for factor in factors[1:]:
        made = Apply("mul", (made, factor))
    return made


def parts_of(term: Term) -> list[Term]:
    inner = term.operands if isinstance(term, Apply) else ()
    return [term, *(part for operand in inner for part in parts_of(operand))]
