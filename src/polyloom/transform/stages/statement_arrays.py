# SPDX-License-Identifier: Apache-2.0
"""Statements of a system as whole arrays: each is an array over the box around its domain, of which only the domain is
read (the converse of domain restriction). A statement that adds to its own value along one loop is a sum along it;
where other loops limit this loop, one factor of each term is 0 outside, by a selection.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

import islpy as isl

from polyloom.analysis.dataflow import refuse
from polyloom.ir import nest
from polyloom.ir.arrays.program import Apply, Form, Reduce, Shape, Store, Value, axis, read_array
from polyloom.ir.formula import index_dimension
from polyloom.ir.nest import Expression, Storage
from polyloom.ir.pla import Constant, Reference
from polyloom.ir.recurrence import Piece, Produced, Recurrence, Stored, System
from polyloom.names import dotted_name, fresh_name
from polyloom.sets import Affine, Condition, Polyhedron
from polyloom.transform.stages.masked_sums import check_terms, increment, is_symmetric, mask_addends
from polyloom.transform.stages.statement_sources import Sources, StatementArray
from polyloom.transform.stages.system_domains import Domains, any_equality, box_condition, inequalities

_OWN: Final = Constant(0, "f32")
"""Value of the statement itself, by identity."""
_ZERO: Final = (Constant(0.0, "f32"), Constant(0, "i32"))


class StatementArrays:
    """Arrays of statements, made when they are read, so that each stands behind those that it needs (mutable)."""

    def __init__(self, system: System) -> None:
        self.system, self.domains = system, Domains(system)
        self.storage = {storage.name: storage for storage in system.storage}
        self.made: dict[str, StatementArray] = {}
        self.open, self.taken = set[str](), set(system.names)
        self.stores = list[Store]()
        self.sources = Sources(system, self.domains, self.storage, self.made, self.raise_statement)

    def raise_statement(self, name: str) -> StatementArray:
        """Array of a statement. Raises `Unlike`, also for values that need each other."""
        if name not in self.made:
            equation = self.system[name]
            if name in self.open:
                refuse(f"`{statement_label(equation)}` needs values of its own earlier steps", equation.span)
            self.open.add(name)
            made = self.raise_equation(equation)
            self.made[name] = made
            self.stores.append(Store(read_array(made.storage, equation.span), made.value, equation.span))
        return self.made[name]

    def raise_equation(self, equation: Recurrence) -> StatementArray:
        points = self.domains.domain(equation)
        reads = [[p for p in read if not self.domains.domain(equation, p.domain).is_empty()] for read in equation.reads]
        own = [n for n, read in enumerate(reads) if any(_is_value_of_statement(piece, equation) for piece in read)]
        extents = self.extents(equation, points, reads)
        over = self.summed_loop(equation, reads[own[0]] if len(own) == 1 else []) if own else ""
        dims = tuple(loop for loop in equation.loops if loop != over)
        order = (*dims, over) if over else dims
        at = {loop: axis(n) for n, loop in enumerate(order)}
        whole = tuple(extents[loop] for loop in at)
        values = [
            _OWN if n in own else self.sources.select(read, equation.loops, points, at, whole)
            for n, read in enumerate(reads)
        ]
        value = _value(equation.value, iter(values), at, whole)
        storage = self.local(equation, tuple(extents[loop] for loop in dims))
        if not over:
            return StatementArray(storage, dims, value, symmetric=self.is_symmetric(value, storage))
        return self.raise_sum(equation, value, reads[own[0]], StatementArray(storage, dims, value, over), at, extents)

    def local(self, equation: Recurrence, extents: Shape) -> Storage:
        # The part before the dot is what the user calls it.
        name = fresh_name(statement_label(equation), self.taken, dotted_name)
        return Storage(name, equation.dtype, extents, "local", span=equation.span)

    def raise_sum(
        self,
        equation: Recurrence,
        value: Value,
        read: Sequence[Piece],
        made: StatementArray,
        at: Mapping[str, Affine],
        extents: Mapping[str, Affine],
    ) -> StatementArray:
        """Sum along a loop, with its terms masked where other loops limit this loop."""
        over, points, span = made.over, self.domains.domain(equation), equation.span
        symbol, limits = Affine.symbol(over), inequalities(points)
        first = tuple(symbol - limit for limit in limits if limit.coefficient(over) == 1)
        last = tuple(symbol + limit for limit in limits if limit.coefficient(over) == -1)
        begin = [piece for piece in read if not _is_value_of_statement(piece, equation)]
        starting = points.intersect(self.domains.domain(equation, any_equality([symbol - form for form in first])))
        starts = self.domains.domain(equation, Condition(tuple(p for piece in begin for p in piece.domain.pieces)))
        added, is_less = increment(value, _OWN, statement_label(equation), span)
        if not starts.is_equal(starting):
            refuse(f"the sum `{statement_label(equation)}` does not begin with the loop over {over}", span)
        box = self.domains.points(box_condition(extents), equation.loops)
        outside = [
            limit
            for limit in limits
            if over in limit.symbols
            and not box.is_subset(self.domains.points(Condition((Polyhedron((limit,)),)), equation.loops))
        ]
        whole_box = tuple(extents[loop] for loop in at)
        check_terms(added, str(at[over]), statement_label(equation), span)
        # One by one: bounds by the row and by the column are masks of different factors.
        for limit in outside:
            mask = Condition((Polyhedron((limit,)),)).substitute(at)
            added = mask_addends(added, mask, whole_box, str(at[over]), span)
        total: Value = Reduce("add", (len(made.dims),), added, span)
        place = {loop: form for loop, form in at.items() if loop != over}
        if len(first) == 1:
            place[over] = first[0].substitute(place)
        elif any(over in form.symbols for piece in begin for form in piece.origin.index):
            refuse(
                f"the sum `{statement_label(equation)}` begins with an element that its first iteration chooses", span
            )
        begins = self.sources.select(begin, equation.loops, starting, place, made.storage.shape)
        whole: Value = Apply("sub" if is_less else "add", equation.dtype, (begins, total), span)
        if begins in _ZERO:
            whole = Apply("neg", equation.dtype, (total,), span) if is_less else total
        return replace(
            made,
            value=whole,
            first=first,
            last=last,
            begins=begins,
            symmetric=self.is_symmetric(whole, made.storage),
        )

    def is_symmetric(self, value: Value, storage: Storage) -> bool:
        known = {made.storage.name for made in self.made.values() if made.symmetric}
        return is_symmetric(value, storage.shape, known)

    def summed_loop(self, equation: Recurrence, read: Sequence[Piece]) -> str:
        """Loop along which an equation adds to its own value, by distance 1 (a uniform recurrence; Karp, Miller,
        Winograd 1967).
        """
        steps = [piece.origin.index for piece in read if _is_value_of_statement(piece, equation)]
        away = {
            loop: Affine.symbol(loop) - form
            for index in steps
            for loop, form in zip(equation.loops, index, strict=True)
            if form != Affine.symbol(loop)
        }
        if len(steps) != 1 or [*away.values()] != [Affine((), 1)]:
            refuse(f"`{statement_label(equation)}` depends on itself, and not along one loop", equation.span)
        return next(iter(away))

    def extents(self, equation: Recurrence, points: isl.Set, reads: Sequence[Sequence[Piece]]) -> dict[str, Affine]:
        """Box around a domain: along each loop from 0 to the extent of an array that the loop indexes."""
        found = dict[str, list[Affine]]({loop: [] for loop in equation.loops})
        target = equation.statement.assign.target
        if target.name in self.storage:
            _add_extents(found, target.index, self.storage[target.name].shape)
        for piece in (piece for read in reads for piece in read if not _is_value_of_statement(piece, equation)):
            if isinstance(piece.origin, Stored):
                _add_extents(found, piece.origin.index, self.storage[piece.origin.name].shape)
            elif isinstance(piece.origin, Produced):
                made = self.raise_statement(piece.origin.statement)
                index = dict(zip(self.system[piece.origin.statement].loops, piece.origin.index, strict=True))
                _add_extents(found, [index[dim] for dim in made.dims], made.storage.shape)
        # Last, because what reads the array needs it in the shape of other arrays.
        for limit in inequalities(points):
            (loop, *others) = [*({*limit.symbols} & {*equation.loops}), ""]
            if loop and not any(others) and limit.coefficient(loop) == -1:
                found[loop].append(limit + Affine.symbol(loop) + 1)
        box = {loop: each[0] for loop, each in found.items() if each}
        if {*box} != {*found} or not points.is_subset(self.domains.points(box_condition(box), equation.loops)):
            refuse(f"the loops around `{statement_label(equation)}` do not all run inside of a size", equation.span)
        return box


def statement_label(equation: Recurrence) -> str:
    return equation.statement.assign.target.name


def _is_value_of_statement(piece: Piece, equation: Recurrence) -> bool:
    return isinstance(piece.origin, Produced) and piece.origin.statement == equation.name


def _add_extents(found: Mapping[str, list[Affine]], index: Sequence[Affine], extents: Shape) -> None:
    for form, extent in zip(index, extents, strict=True):
        if (loop := index_dimension(form)) in found:
            found[loop].append(extent)


def _value(value: Expression, reads: Iterator[Value], at: Mapping[str, Affine], whole: Shape) -> Value:
    """Expression as a value of arrays, with the sources of its reads, from left to right."""
    match value:
        case Reference():
            return next(reads)
        case Constant():
            return value
        case nest.Apply():
            operands = tuple(_value(o, reads, at, whole) for o in value.operands)
            return Apply(value.operation, value.dtype, operands, value.span)
        case nest.Index():
            return Form(value.value.substitute(at), value.dtype, whole, value.span)
