# SPDX-License-Identifier: Apache-2.0
"""Integers of a nest of floats as floats, for a machine whose programs have one type: the counterpart for loops of
`transform.stages.integers.carry`, with the same terms (`carried_terms`) and the same refusals.

What a local holds is bounded without regard to the order of statements (flow-insensitive interval analysis; Nielson,
Nielson, Hankin 1999, section 1.3), but for sums: what is added in loops since the last assignment of a beginning is at
most their trip counts times the range of a term.

    val = 0;  for j < 64:  val = val + x[j] * w[j]      val is from 64 * -128 * 127 to 64 * 128 * 128
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final, NoReturn

from polyloom.analysis.loop_ranges import form_range, loop_ranges
from polyloom.ir import formula as terms
from polyloom.ir.formula import Leaf, Number, Term
from polyloom.ir.nest import (
    Apply,
    Assign,
    Expression,
    Index,
    Nest,
    assignments,
    subexpressions,
)
from polyloom.ir.nest_rewrite import Rewriter
from polyloom.ir.operations import INTEGERS, ElementType
from polyloom.ir.pla import Constant, Reference
from polyloom.names import hidden_name
from polyloom.transform.stages.integers.accumulations import Write, added_term, count_executions, writes
from polyloom.transform.stages.integers.carried_terms import EXACT, CarriedInteger, Carrier, TermCarrier
from polyloom.transform.stages.integers.ranges import CARRIED, RANGES, Range, hull, sum_range

_SINGLES: Final = Carrier(EXACT, EXACT, splits=False)
"""Vector code computes in FP32, of which nothing rounds an integer up to 2**24."""
_ROUNDS: Final = 3
"""Of the analysis, in which what a local is made of itself, as a maximum is, has to be stable."""


def carry_nest_integers(nest: Nest) -> Nest:
    """Nest of floats alone, of one that has narrow or local integers, too; any other as it is. It is at its sizes, if
    it `has_loop_integers`. Errors: PL1232 for integers that floats do not hold.
    """
    kinds = {storage.dtype for storage in nest.storage}
    if not _has_carried_types(nest):
        return nest
    if kinds == {"f32"} and not any(map(_converts, assignments(nest.body))):
        return nest
    storage = tuple(replace(s, dtype="f32") for s in nest.storage)
    return replace(nest, storage=storage, body=_NestCarrier(nest).nodes(nest.body))


def has_loop_integers(nest: Nest) -> bool:
    """Whether integers of a nest of floats are values of loops, of which sizes tell the range."""
    has_values = any(map(_is_loop_integer, (part for a in assignments(nest.body) for part in subexpressions(a.value))))
    return _has_carried_types(nest) and has_values


def _has_carried_types(nest: Nest) -> bool:
    kinds = {storage.dtype for storage in nest.storage}
    return "f32" in kinds and kinds <= {"f32", "i32", *CARRIED}


def _is_loop_integer(part: Expression) -> bool:
    return isinstance(part, Index) and part.dtype in INTEGERS


def _converts(assign: Assign) -> bool:
    """Whether a statement of floats converts one to a narrow integer, or has values of loops that are integers."""
    narrow = {f"to_{kind}" for kind in CARRIED}
    return any(
        (isinstance(part, Apply) and part.operation in narrow) or _is_loop_integer(part)
        for part in subexpressions(assign.value)
    )


class _NestCarrier(Rewriter):
    """Statements of a nest as those of floats."""

    def __init__(self, nest: Nest) -> None:
        self.nest, self.terms = nest, _StatementCarrier(nest)

    def assignment(self, node: Assign) -> Assign:
        return replace(node, value=_expression(self.terms.assigned_term(node), self.terms.indices))


class _StatementCarrier(TermCarrier):
    """Terms of statements; `writes` by storage, `open` are locals whose range is being computed, `indices` are values
    of loops by the names of their leaves (mutable).
    """

    def __init__(self, nest: Nest) -> None:
        super().__init__({s.name: s.dtype for s in nest.storage}, _SINGLES)
        self.nest, self.open, self.indices = nest, dict[str, Range](), dict[str, Index]()
        self.writes: Mapping[str, list[Write]] = {s.name: [] for s in nest.storage}
        for write in writes(nest.body):
            self.writes[write.assign.target.name].append(write)

    def assigned_term(self, node: Assign) -> Term:
        """Value that a statement assigns, as a float."""
        self.span = node.span
        kind = self.types[node.target.name]
        if kind not in INTEGERS:
            return self.float_term(self.term(node.value))
        return self.check_range(self.integer(self.term(node.value)), kind, f"`{node.target.name}`", node.span).value

    def term(self, value: Expression) -> Term:
        """Term of an expression, which has no types."""
        match value:
            case Reference(name=name, index=index):
                return Leaf(name, index)
            case Constant(value=number):
                return Number(number)
            case Apply(operation="to_f32", operands=(Index() as index,)):
                # Rounded, as in the source, whatever its size.
                return self.term(replace(index, dtype="f32"))
            case Apply(operation=operation, operands=operands, span=span):
                return terms.Apply(operation, tuple(map(self.term, operands)), span)
            case Index():
                name = hidden_name(len(self.indices))
                self.indices[name], self.types[name] = value, value.dtype
                return Leaf(name, ())

    def element(self, leaf: Leaf) -> CarriedInteger:
        kind = self.types[leaf.array]
        if leaf.array in self.indices:
            return self.loop_value(leaf, self.indices[leaf.array])
        if kind in CARRIED:
            return CarriedInteger(leaf, RANGES[kind])
        storage = self.nest[leaf.array]
        if storage.role == "argument":
            message = f"`{leaf.array}` is {kind} in a program of f32"
            self.refuse(message, "declare it as f32, or an array as i8, i16, u8 or u16", storage.span)
        return CarriedInteger(leaf, self.local_range(leaf.array, kind))

    def loop_value(self, leaf: Leaf, index: Index) -> CarriedInteger:
        """Value of a loop, of a nest at its sizes."""
        found = CarriedInteger(leaf, form_range(index.value, loop_ranges(self.nest.body)))
        return self.check_range(found, index.dtype, f"`{index.value}`", index.span)

    # Locals

    def local_range(self, name: str, kind: ElementType) -> Range:
        """Range of a local: of what is assigned to it, and of what is added to that in loops."""
        if name in self.open:
            if name != next(reversed(self.open)):
                # What is assumed of it would be taken for known of others.
                self.refuse_own_value(name, kind)
            return self.open[name]
        if name not in self.known:
            before, self.open[name] = self.span, (0, 0)
            self.known[name] = CarriedInteger(Leaf(name, ()), self.total_range(name, kind))
            self.span = before
            del self.open[name]
        return self.known[name].range

    def total_range(self, name: str, kind: ElementType) -> Range:
        added = 0, 0
        begun = [write for write in self.writes[name] if added_term(write.assign) is None]
        for write in self.writes[name]:
            term = added_term(write.assign)
            if term is not None:
                self.span = write.assign.span
                times, (low, high) = self.times_added(write, begun), self.integer(self.term(term)).range
                least, most = sum_range((low, high), times)
                added = added[0] + least, added[1] + most
        return self.stable_range(name, kind, begun, added)

    def stable_range(self, name: str, kind: ElementType, begun: Sequence[Write], added: Range) -> Range:
        """Range that holds all that is assigned, if what is assigned is in this range (a fixed point)."""
        found: Range | None = None
        for _ in range(_ROUNDS):
            before = found
            for write in begun:
                self.span = write.assign.span
                self.open[name] = _interval_sum(found or (0, 0), added)
                made = self.integer(self.term(write.assign.value)).range
                found = made if found is None else hull(found, made)
            if found == before:
                break
        else:
            self.refuse_own_value(name, kind)
        whole = _interval_sum(found or (0, 0), added)
        what = f"`{name}`"
        return self.check_range(CarriedInteger(Leaf(name, ()), whole), kind, what, self.span).range

    def refuse_own_value(self, name: str, kind: ElementType) -> NoReturn:
        message = f"`{name}` is {kind} in a program of f32, and is made of its own value"
        self.refuse(message, "limit it by a minimum and a maximum, or declare it as f32")

    def times_added(self, write: Write, begun: Sequence[Write]) -> int:
        """How often a term is added since a beginning: the trip counts of the loops around it, but not around this."""
        counts = [n for each in begun if (n := count_executions(write, each)) is not None]
        if not counts:
            name = write.assign.target.name
            message = f"`{name}` is an integer to which a number of terms is added that is not known"
            self.refuse(message, "set it to 0 in front of its loop, and loop to a constant")
        return min(counts)


def _interval_sum(base: Range, added: Range) -> Range:
    return base[0] + added[0], base[1] + added[1]


def _expression(term: Term, indices: Mapping[str, Index]) -> Expression:
    """Expression of a term of floats; conversions to integers and back have the types of their names."""
    match term:
        case Leaf(array=name) if name in indices:
            return replace(indices[name], dtype="f32")
        case Leaf(array=name, index=index):
            return Reference(name, index)
        case Number(value=number):
            return Constant(float(number), "f32")
        case terms.Apply(operation=operation, operands=operands, span=span):
            if operation in ("and", "or"):
                # Of comparisons, which are truth values.
                return Apply(operation, "i32", tuple(_expression(o, indices) for o in operands), span)
            inner = operands[0].operation if operation == "to_f32" and isinstance(operands[0], terms.Apply) else ""
            kinds: list[ElementType] = [kind for kind in CARRIED if inner == f"to_{kind}"]
            return Apply(
                operation, kinds[0] if kinds else "f32", tuple(_expression(o, indices) for o in operands), span
            )
        case terms.Sum():
            raise AssertionError("statements have no sums")
