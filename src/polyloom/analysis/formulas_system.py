# SPDX-License-Identifier: Apache-2.0
"""The formulas of a loop nest: what `analysis.dataflow` finds in equations, in recurrences.

Every statement of a system is an array over its loops. A statement that adds a term to its own value along one loop is
the sum of that term, and has no place for this loop: what reads it must read the whole sum. Sizes are taken to be at
least 1.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import islpy as isl

from polyloom.analysis.dataflow import refuse
from polyloom.diagnostics import Span
from polyloom.ir.formula import Apply, Definition, Formulas, Leaf, Number, Output, Sum, Term, index_dimension
from polyloom.ir.nest import Apply as Operation
from polyloom.ir.nest import Expression
from polyloom.ir.pla import Constant, Reference
from polyloom.ir.recurrence import Immediate, Origin, Piece, Produced, Recurrence, Stored, System
from polyloom.names import fresh_name
from polyloom.sets import Affine, Condition, Polyhedron
from polyloom.sets.isl import from_set, to_set


def system_formulas(system: System) -> Formulas:
    """Formulas of the outputs of a nest, from its recurrences. Raises `Unlike`."""
    return _Reader(system).read()


def positive(parameters: Sequence[str]) -> Condition:
    """Every size is at least 1."""
    return Condition((Polyhedron(tuple(Affine.symbol(name) - 1 for name in parameters)),))


class _Reader:
    """Definitions of a system, made when they are read, so that each stands behind those that it needs."""

    def __init__(self, system: System) -> None:
        self.system = system
        self.shapes = {storage.name: storage.shape for storage in system.storage}
        self.equations = {equation.name: equation for equation in system.equations}
        self.made: dict[str, Definition] = {}
        self.open: set[str] = set()
        self.taken = set(system.names)

    def read(self) -> Formulas:
        outputs = tuple(self.outputs())
        if not outputs:
            refuse(f"`{self.system.name}` has no result")
        return Formulas(tuple(self.made.values()), outputs, {s.name: s.dtype for s in self.system.storage}, self.shapes)

    def points(self, condition: Condition, loops: Sequence[str]) -> isl.Set:
        """Where sizes are at least 1."""
        params = self.system.parameters
        assumed = to_set(self.system.assumptions, loops, params).intersect(to_set(positive(params), loops, params))
        return to_set(condition, loops, params).intersect(assumed)

    def outputs(self) -> Iterator[Output]:
        finals = [f for f in self.system.finals if not self._is_empty(f.domain, f.statement)]
        for name in dict.fromkeys(final.name for final in finals):
            first, *others = [final for final in finals if final.name == name]
            if others:
                refuse(f"parts of `{name}` are written by different statements", self._span(first.statement))
            made = self.definition(first.statement)
            loops = [index_dimension(index) for index in first.index]
            shape = tuple(made.extents.get(loop) for loop in loops)
            last = {d: made.extents[d] - 1 for d in made.extents if d not in loops}
            # A sum is written at the last iteration of its loop, where it is complete.
            fixed = _box(last, made.extents)
            equation = self.equations[first.statement]
            whole = len(set(loops)) == len(loops) and shape == self.shapes[name]
            if not whole or not self.points(first.domain, equation.loops).is_equal(self.points(fixed, equation.loops)):
                refuse(f"`{name}` is not written as a whole by one statement", equation.span)
            yield Output(name, made.name, tuple(loops.index(d) if d in loops else last[d] for d in made.dims))

    def _is_empty(self, domain: Condition, statement: str) -> bool:
        return bool(self.points(domain, self.equations[statement].loops).is_empty())

    def _span(self, statement: str) -> Span | None:
        return self.equations[statement].span

    def definition(self, statement: str) -> Definition:
        """Errors: `Unlike`, also for values that need each other."""
        if statement not in self.made:
            # A cycle of reads: the recursion would not end.
            if statement in self.open:
                refuse(f"`{self._label(statement)}` needs values of its own earlier steps", self._span(statement))
            self.open.add(statement)
            made = self._definition(self.equations[statement])
            self.made[statement] = made
        return self.made[statement]

    def _label(self, statement: str) -> str:
        return self.equations[statement].statement.assign.target.name

    def _definition(self, equation: Recurrence) -> Definition:
        extents = self._extents(equation)
        label = self._label(equation.name)
        reads = [
            [piece for piece in read if not self._is_empty(piece.domain, equation.name)] for read in equation.reads
        ]
        own = [
            n
            for n, read in enumerate(reads)
            if any(_is_value_of_statement(piece.origin, equation.name) for piece in read)
        ]
        terms: list[Term] = [
            Number(0) if n in own else self._single_origin(equation, read) for n, read in enumerate(reads)
        ]
        if not own:
            return self._new_definition(equation, label, equation.loops, extents, _term(equation.value, iter(terms)))
        over = self._loop(equation, reads[own[0]] if len(own) == 1 else [], extents)
        begin = [piece for piece in reads[own[0]] if not _is_value_of_statement(piece.origin, equation.name)]
        # The statement's own value is marked in the expression, so that what is added to it can be told.
        terms[own[0]] = _OWN
        added, is_less = _increment(_term(equation.value, iter(terms)), equation)
        whole = Sum(added, over, equation.domain, equation.domain)
        value = self._with_initial_value(self._single_origin(equation, begin, over), whole, is_less, equation)
        return self._new_definition(equation, label, tuple(d for d in equation.loops if d != over), extents, value)

    def _new_definition(
        self, equation: Recurrence, label: str, dims: tuple[str, ...], extents: Mapping[str, Affine], term: Term
    ) -> Definition:
        return Definition(fresh_name(label, self.taken), label, dims, extents, term, equation.dtype, equation.span)

    def _with_initial_value(self, first: Term, whole: Sum, is_less: bool, equation: Recurrence) -> Term:
        """First value and sum: nothing is added to a sum that begins with 0."""
        if first == Number(0) and not is_less:
            return whole
        if first == Number(0):
            return Apply("neg", (whole,), equation.span)
        return Apply("sub" if is_less else "add", (first, whole), equation.span)

    def _extents(self, equation: Recurrence) -> Mapping[str, Affine]:
        """Of the loops, which all begin at 0 and end apart from each other."""
        points = self.points(equation.domain, equation.loops)
        pieces = from_set(points).pieces
        limits = pieces[0].constraints if len(pieces) == 1 else ()
        found: dict[str, Affine] = {}
        for limit in limits:
            inside = sorted(limit.symbols & set(equation.loops))
            # A triangular domain: its rows have different lengths.
            if len(inside) > 1:
                label = self._label(equation.name)
                refuse(
                    f"`{label}` is not computed for whole rows and columns: {inside[0]} limits {inside[1]}",
                    equation.span,
                )
            if len(inside) == 1 and limit.coefficient(inside[0]) == -1:
                found[inside[0]] = limit + Affine.symbol(inside[0]) + 1
        # Upper limits alone could leave out points: the box must be the whole domain.
        box = _box({}, found)
        if set(found) != set(equation.loops) or not points.is_equal(self.points(box, equation.loops)):
            refuse(f"the loops around `{self._label(equation.name)}` do not all run from 0 to a size", equation.span)
        return found

    def _single_origin(self, equation: Recurrence, read: Sequence[Piece], over: str = "") -> Term:
        """The origin of a read, which is one for all iterations (where a sum begins: at 0 of `over`)."""
        if len(read) != 1:
            refuse(f"`{self._label(equation.name)}` is not one formula in all iterations", equation.span)
        begin = {over: Affine((), 0)} if over else {}
        return self._leaf(equation, read[0].origin, begin)

    def _leaf(self, equation: Recurrence, origin: Origin, begin: Mapping[str, Affine]) -> Term:
        if isinstance(origin, Immediate):
            return Number(origin.constant.value)
        index = tuple(each.substitute(begin) for each in origin.index)
        if isinstance(origin, Stored):
            return Leaf(origin.name, index)
        made = self.definition(origin.statement)
        loops = self.equations[origin.statement].loops
        for loop, at in zip(loops, index, strict=True):
            # Only the last iteration has the whole sum.
            if loop not in made.dims and at != made.extents[loop] - 1:
                refuse(f"`{self._label(equation.name)}` reads a sum, `{made.label}`, before its end", equation.span)
        return Leaf(made.name, tuple(at for loop, at in zip(loops, index, strict=True) if loop in made.dims))

    def _loop(self, equation: Recurrence, read: Sequence[Piece], extents: Mapping[str, Affine]) -> str:
        """Loop along which an equation adds to its own value, by distance 1 (a uniform recurrence; Karp, Miller,
        Winograd 1967).
        """
        label = self._label(equation.name)
        steps = [p for p in read if _is_value_of_statement(p.origin, equation.name)]
        symbols = tuple(map(Affine.symbol, equation.loops))
        distances = {
            name: symbol - at
            for piece in steps
            for name, symbol, at in zip(equation.loops, symbols, piece.origin.index, strict=True)
            if symbol != at
        }
        if len(steps) != 1 or len(distances) != 1 or next(iter(distances.values())) != Affine((), 1):
            refuse(f"`{label}` depends on itself, and not along one loop", equation.span)
        over = next(iter(distances))
        # All iterations but the first read the one before.
        later = Condition((Polyhedron((*_box({}, extents).pieces[0].constraints, Affine.symbol(over) - 1)),))
        taken = self.points(steps[0].domain, equation.loops)
        if not taken.is_equal(self.points(later, equation.loops)):
            refuse(f"the sum `{label}` does not begin with the loop over {over}", equation.span)
        return over


_OWN = Leaf("", ())
"""A statement's own value."""


def _is_value_of_statement(origin: Origin, statement: str) -> bool:
    return isinstance(origin, Produced) and origin.statement == statement


def _box(fixed: Mapping[str, Affine], extents: Mapping[str, Affine]) -> Condition:
    """A box of which some dimensions are fixed."""
    limits = list[Affine]()
    for name, extent in extents.items():
        symbol = Affine.symbol(name)
        away = symbol - fixed[name] if name in fixed else symbol
        limits += [away, -away] if name in fixed else [symbol, extent - symbol - 1]
    return Condition((Polyhedron(tuple(limits)),))


def _term(value: Expression, reads: Iterator[Term]) -> Term:
    """Expression as a term, with the origins of its reads, from left to right."""
    match value:
        case Reference():
            return next(reads)
        case Constant():
            return Number(value.value)
        case Operation():
            return Apply(value.operation, tuple(_term(o, reads) for o in value.operands), value.span)
        case _:
            return refuse(f"`{value.value}` is a number that loops determine", value.span)


def _increment(value: Term, equation: Recurrence) -> tuple[Term, bool]:
    """What is added to a statement's own value in each step, and whether it is taken away."""
    label = equation.statement.assign.target.name
    if isinstance(value, Apply):
        rest = [o for o in value.operands if o is not _OWN]
        place = [n for n, o in enumerate(value.operands) if o is _OWN]
        if value.operation in ("add", "sub") and len(rest) == 1 and (place == [0] or value.operation == "add"):
            return rest[0], value.operation == "sub"
        if value.operation == "madd" and place == [2]:
            return Apply("mul", tuple(rest), value.span), False
    return refuse(f"`{label}` depends on itself, and not by one addition", equation.span)
