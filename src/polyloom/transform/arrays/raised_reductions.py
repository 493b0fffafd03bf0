# SPDX-License-Identifier: Apache-2.0
"""Reductions in assignments: `t = t + x` and `t = max(t, x)`, and sums of products as contractions, whose summed labels
keep the order of the loops."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import Final

from polyloom.ir import nest
from polyloom.ir.arrays.program import (
    Apply,
    Constant,
    Contract,
    Read,
    ReduceOperation,
    Value,
    axis,
    shape,
    summed_labels,
)
from polyloom.ir.nest import Assign, Expression, accesses
from polyloom.ir.operations import FLOATS
from polyloom.ir.pla import Reference

_SUMS: Final[dict[str, ReduceOperation]] = {"add": "add", "mul": "mul"}
_LETTERS: Final = "ijklmnpqrstuvwxyz"


@dataclass(frozen=True, slots=True)
class Reduction:
    """`term` is combined with the element that the assignment stores to."""

    operation: ReduceOperation
    term: Expression


def find_reduction(assign: Assign) -> Reduction | None:
    """The reduction that an assignment is one step of."""
    match assign.value:
        case nest.Apply(operation="select", dtype=kind, operands=(test, total, term)) if names_element(
            total, assign.target
        ):
            found = _extreme(test, total, term, is_float=kind in FLOATS)
        case nest.Apply(operation=operation, operands=(total, term)) if operation in _SUMS:
            if not names_element(total, assign.target):
                # Both operations are commutative, in every bit but a NaN's payload.
                total, term = term, total
            found = Reduction(_SUMS[operation], term) if names_element(total, assign.target) else None
        case _:
            return None
    own = found is not None and any(read.name == assign.target.name for read in accesses(found.term))
    return None if own else found


def names_element(expression: Expression, target: Reference) -> bool:
    """Whether an expression is an element that is named."""
    return isinstance(expression, Reference) and (expression.name, expression.index) == (target.name, target.index)


def _extreme(test: Expression, total: Expression, term: Expression, *, is_float: bool) -> Reduction | None:
    """`select(total > term or total != total, total, term)`: a maximum that gives a NaN where there is one."""
    if is_float:
        match test:
            case nest.Apply(operation="or", operands=(inner, nest.Apply(operation="ne", operands=(a, b)))):
                if strip_spans(a) != strip_spans(total) or strip_spans(b) != strip_spans(total):
                    return None
                test = inner
            case _:
                return None
    # Zeros of both signs are equal: of floats, the first that is no worse stays, as in the loops of a reduction.
    words = ("ge", "le") if is_float else ("gt", "ge", "lt", "le")
    match test:
        case (
            nest.Apply(operation="gt" | "ge" as word, operands=(a, b))
            | nest.Apply(operation="lt" | "le" as word, operands=(a, b))
        ) if word in words and strip_spans(a) == strip_spans(total) and strip_spans(b) == strip_spans(term):
            return Reduction("maximum" if word in ("gt", "ge") else "minimum", term)
        case _:
            return None


def strip_spans(expression: Expression) -> Expression:
    """An expression without its places in the source."""
    match expression:
        case nest.Apply(operands=operands):
            return replace(expression, operands=tuple(map(strip_spans, operands)), span=None, reason="")
        case Reference() | nest.Index():
            return replace(expression, span=None)
        case _:
            return expression


def begins_with_identity(operation: ReduceOperation, value: Value) -> bool:
    """Whether a value is what a reduction begins with: the operation's identity."""
    if not isinstance(value, Constant):
        return False
    match operation:
        case "add":
            # Of -0.0 a sum of no or of negative zeros would stay -0.0.
            return value.value == 0 and str(value.value) != "-0.0"
        case "mul":
            return value.value == 1
        case "maximum":
            return value.value == -inf
        case "minimum":
            return value.value == inf
        case _:
            return False


def contraction(operation: ReduceOperation, term: Value, rank: int, summed: int) -> Contract | None:
    """A sum of products of elements as a contraction of `rank` + `summed` labels; None for another term, and where
    its labels would be summed in another order."""
    if operation != "add" or not isinstance(term, Apply) or term.operation != "mul":
        return None
    factors = _factors(term)
    if factors is None or rank + summed > len(_LETTERS):
        return None
    labels, operands = list[str](), list[Value]()
    for factor in factors:
        # In the order of its array, as whole arrays are.
        own = [int(name[1:]) for name in dict.fromkeys(_axis_names(factor))]
        names = {f"${n}": axis(k) for k, n in enumerate(own)}
        labels.append("".join(_LETTERS[n] for n in own))
        index = tuple(form.substitute(names) for form in factor.index)
        operands.append(replace(factor, index=index, shape=tuple(shape(term)[n] for n in own)))
    result = _LETTERS[:rank]
    found = Contract(tuple(labels), result, tuple(operands), term.span)
    has_all = set(_LETTERS[: rank + summed]) == {*"".join(labels)}
    return found if has_all and summed_labels(found) == _LETTERS[rank : rank + summed] else None


def _axis_names(factor: Read) -> list[str]:
    return [name for form in factor.index for name, _ in form.terms if name.startswith("$")]


def _factors(term: Value) -> Sequence[Read] | None:
    """The factors of a product from left to right, which are elements of arrays."""
    if isinstance(term, Apply) and term.operation == "mul":
        left, right = (_factors(operand) for operand in term.operands)
        # A product on the right would be rounded first.
        return None if left is None or right is None or len(right) > 1 else [*left, *right]
    return [term] if isinstance(term, Read) and shape(term) else None
