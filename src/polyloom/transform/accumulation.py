# SPDX-License-Identifier: Apache-2.0
"""Recognises `s = s op e` in an equation, whatever the grouping: s + (a - b), (s + a) - b, max(max(s, a), b)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from polyloom.ir.nest import Apply, Expression, accesses
from polyloom.ir.numbers import type_limits
from polyloom.ir.operations import ElementType
from polyloom.ir.pla import Constant, Reference
from polyloom.ir.recurrence import Piece, Produced, Recurrence

Read = tuple[Piece, ...]
ASSOCIATIVE = ("add", "mul", "min", "max", "and", "or", "xor")
"""These are commutative too; in floats, add and mul round differently in another order."""


@dataclass(frozen=True, slots=True)
class Accumulation:
    """`accumulator join (term combine term ...)`: the accumulator is read as `before`, `reads` are those of `term` in
    order."""

    accumulator: Reference
    before: Read
    combine: str
    join: str
    dtype: ElementType
    term: Expression
    reads: tuple[Read, ...]


@dataclass(frozen=True, slots=True)
class _Leaf:
    """An operand of a tree of one operation; `negative` operands are subtracted."""

    expression: Expression
    reads: tuple[Read, ...]
    negative: bool


def recognise(equation: Recurrence) -> Accumulation | None:
    """Reduction recognition in one equation (Redon, Feautrier, "Detection of recurrences in sequential programs with
    loops", 1993); None where it is none. It reads itself nowhere but as the accumulator.
    """
    value = equation.value
    if not isinstance(value, Apply):
        return None
    # A difference is a sum with a negative operand: both are one tree.
    family = "add" if value.operation == "sub" else value.operation
    if family not in ASSOCIATIVE:
        return None
    leaves = list(_leaves(value, family, iter(equation.reads), False))
    own = [leaf for leaf in leaves if any(_reads(read, equation.name) for read in leaf.reads)]
    # s = e - s alternates in sign and s = s + s doubles: neither is a sum over the iterations.
    if len(own) != 1 or own[0].negative or not isinstance(own[0].expression, Reference) or len(leaves) < 2:
        return None
    return _accumulation(
        own[0].expression, own[0].reads[0], value, family, [leaf for leaf in leaves if leaf is not own[0]]
    )


def identity_element(operation: str, dtype: ElementType) -> Constant:
    """Identity element e of an operation, with e op x = x for all x of the type."""
    bounds = type_limits(dtype)
    if bounds is None:
        return Constant({"add": 0.0, "mul": 1.0, "min": float("inf"), "max": float("-inf")}[operation], dtype)
    least, most = bounds
    ones = most if least == 0 else -1
    return Constant({"add": 0, "mul": 1, "min": most, "max": least, "and": ones, "or": 0, "xor": 0}[operation], dtype)


def _leaves(value: Expression, family: str, reads: Iterator[Read], negative: bool) -> Iterator[_Leaf]:
    """Operands of a tree of one associative operation, whatever its grouping, with their signs."""
    if isinstance(value, Apply) and (value.operation == family or (family, value.operation) == ("add", "sub")):
        left, right = value.operands
        yield from _leaves(left, family, reads, negative)
        yield from _leaves(right, family, reads, negative != (value.operation == "sub"))
    else:
        yield _Leaf(value, tuple(islice(reads, sum(1 for _ in accesses(value)))), negative)


def _reads(read: Read, statement: str) -> bool:
    return any(isinstance(p.origin, Produced) and p.origin.statement == statement for p in read)


def _accumulation(
    accumulator: Reference, before: Read, value: Apply, family: str, leaves: Sequence[_Leaf]
) -> Accumulation:
    """Terms that are added come first; if all are subtracted, so is their sum."""
    subtracted = all(leaf.negative for leaf in leaves)
    # Integers wrap round, so that terms may change places; a term that is added comes first to save a negation.
    first, *rest = sorted(leaves, key=lambda leaf: leaf.negative)
    term = first.expression
    for leaf in rest:
        term = Apply(
            "sub" if leaf.negative and not subtracted else family, value.dtype, (term, leaf.expression), value.span
        )
    reads = tuple(read for leaf in (first, *rest) for read in leaf.reads)
    return Accumulation(accumulator, before, family, "sub" if subtracted else family, value.dtype, term, reads)
