# SPDX-License-Identifier: Apache-2.0
"""Recurrences as programs of whole arrays: each statement is an array over the box around its domain, of which only the
domain is read (the converse of domain restriction; Feautrier 1991 for the sources of reads).

A read with several sources, and an output of which several statements write parts, or one statement a part, is a
selection by comparisons of indices. A statement that adds to its own value along one loop is a sum along it; where
other loops limit this loop, one factor of each term is 0 outside, by a selection. Sizes are taken to be at least 1.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import islpy as isl

from polyloom.analysis.dataflow import refuse
from polyloom.analysis.formulas_system import positive
from polyloom.ir import nest
from polyloom.ir.arrays.program import (
    Apply,
    Cases,
    Form,
    Program,
    Read,
    Reduce,
    Shape,
    Store,
    Value,
    axes,
    axis,
    element_view,
    read_array,
)
from polyloom.ir.formula import index_dimension
from polyloom.ir.nest import Expression, Storage
from polyloom.ir.pla import Constant, Reference
from polyloom.ir.recurrence import Final as LastWrite
from polyloom.ir.recurrence import Immediate, Origin, Piece, Produced, Recurrence, Stored, System
from polyloom.names import dotted_name, fresh_name
from polyloom.sets import Affine, Condition, Polyhedron
from polyloom.sets.isl import from_set, to_set
from polyloom.transform.stages.array_terms import remove_spans
from polyloom.transform.stages.masked_sums import check_terms, increment, is_symmetric, mask_addends

_OWN: Final = Constant(0, "f32")
"""Value of the statement itself, by identity."""
_ZERO: Final = (Constant(0.0, "f32"), Constant(0, "i32"))


def system_arrays(system: System) -> tuple[Program, tuple[Store, ...]]:
    """Program of whole arrays with the outputs of a system, and its stores. Raises `Unlike` for recurrences that are no
    sums.
    """
    if len({*(s.dtype for s in system.storage), *(e.dtype for e in system.equations)}) > 1:
        refuse(f"`{system.name}` computes values of several types", system.span)
    return _Reader(system).read()


@dataclass(frozen=True, slots=True)
class _StatementArray:
    """Array of a statement: its `value`, over the loops `dims`; the loop of its sum, whose first iteration is the
    largest of `first`, and its last one the least of `last`, and the value that the sum begins with.
    """

    storage: Storage
    dims: tuple[str, ...]
    value: Value
    over: str = ""
    first: tuple[Affine, ...] = ()
    last: tuple[Affine, ...] = ()
    begins: Value | None = None
    symmetric: bool = False


class _Reader:
    """Arrays of statements, made when they are read, so that each stands behind those that it needs (mutable)."""

    def __init__(self, system: System) -> None:
        self.system = system
        self.storage = {storage.name: storage for storage in system.storage}
        self.made: dict[str, _StatementArray] = {}
        self.open, self.taken = set[str](), set(system.names)
        self.stores = list[Store]()

    def read(self) -> tuple[Program, tuple[Store, ...]]:
        finals = [f for f in self.system.finals if not self.domain(self.system[f.statement], f.domain).is_empty()]
        outputs = [self.output(name, [f for f in finals if f.name == name]) for name in {f.name: 0 for f in finals}]
        storage = (*self.system.storage, *(m.storage for m in self.made.values()))
        s, stores = self.system, (*self.stores, *outputs)
        return Program(s.name, s.parameters, s.assumptions, storage, stores, s.span), stores

    def points(self, condition: Condition, dims: Sequence[str]) -> isl.Set:
        """Points where sizes are at least 1."""
        params = self.system.parameters
        assumed = to_set(self.system.assumptions, dims, params).intersect(to_set(positive(params), dims, params))
        return to_set(condition, dims, params).intersect(assumed)

    def domain(self, equation: Recurrence, condition: Condition | None = None) -> isl.Set:
        return self.points(equation.domain if condition is None else condition, equation.loops)

    # Outputs

    def output(self, name: str, finals: Sequence[LastWrite]) -> Store:
        """Store of an output: what each of its last writers computed, and elsewhere what it held."""
        storage = self.storage[name]
        dims, span = tuple(map(str, axes(len(storage.shape)))), self.system[finals[0].statement].span
        pieces = [piece for final in finals for piece in self.final_pieces(final, dims)]
        whole = self.points(_box(dict(zip(dims, storage.shape, strict=True))), dims)
        rest = whole
        for piece in pieces:
            rest = rest.subtract(self.points(piece.domain, dims))
        if not rest.is_empty():
            pieces.append(Piece(from_set(rest), Stored(name, axes(len(dims)))))
        place = {dim: Affine.symbol(dim) for dim in dims}
        return Store(read_array(storage, span), self.choose(pieces, dims, whole, place, storage.shape), span)

    def final_pieces(self, final: LastWrite, dims: tuple[str, ...]) -> Iterator[Piece]:
        """Last write as pieces over the axes of its output, of a sum one for each bound of its loop."""
        equation, made = self.system[final.statement], self.raise_statement(final.statement)
        # Where a loop has one iteration, the index may be its number.
        domain, places = self.domain(equation, final.domain), [*zip(final.index, dims, strict=True)]
        known = {
            loop: Affine.symbol(dim)
            for loop in made.dims
            for form, dim in places
            if domain.is_subset(self.points(_zeros([form - Affine.symbol(loop)]), equation.loops))
        }
        if not {*made.dims} <= {*known}:
            refuse(f"an element of `{final.name}` is not told by the loops that write it", equation.span)
        joint = (*equation.loops, *dims)
        same = [Affine.symbol(dim) - form for form, dim in places]
        written = self.points(final.domain, joint).intersect(self.points(_zeros(same), joint))
        if made.over and not self.ends_sum(made, Affine.symbol(made.over), {}, domain):
            refuse(f"`{final.name}` is written before its sum ends", equation.span)
        for last in made.last or (Affine(),):
            at_end = [Affine.symbol(made.over) - last] if made.over else []
            image = written.intersect(self.points(_zeros(at_end), joint))
            image = image.project_out(isl.dim_type.set, 0, len(equation.loops))
            for n, dim in enumerate(dims):
                image = image.set_dim_name(isl.dim_type.set, n, dim)
            end = last.substitute(known)
            index = tuple(end if loop == made.over else known[loop] for loop in equation.loops)
            if not image.is_empty():
                yield Piece(from_set(image), Produced(final.statement, index))

    # Statements

    def raise_statement(self, name: str) -> _StatementArray:
        """Array of a statement. Raises `Unlike`, also for values that need each other."""
        if name not in self.made:
            equation = self.system[name]
            if name in self.open:
                refuse(f"`{_label(equation)}` needs values of its own earlier steps", equation.span)
            self.open.add(name)
            made = self.raise_equation(equation)
            self.made[name] = made
            self.stores.append(Store(read_array(made.storage, equation.span), made.value, equation.span))
        return self.made[name]

    def raise_equation(self, equation: Recurrence) -> _StatementArray:
        points = self.domain(equation)
        reads = [[p for p in read if not self.domain(equation, p.domain).is_empty()] for read in equation.reads]
        own = [n for n, read in enumerate(reads) if any(_is_value_of_statement(piece, equation) for piece in read)]
        extents = self.extents(equation, points, reads)
        over = self.summed_loop(equation, reads[own[0]] if len(own) == 1 else []) if own else ""
        dims = tuple(loop for loop in equation.loops if loop != over)
        order = (*dims, over) if over else dims
        at = {loop: axis(n) for n, loop in enumerate(order)}
        whole = tuple(extents[loop] for loop in at)
        values = [
            _OWN if n in own else self.choose(read, equation.loops, points, at, whole) for n, read in enumerate(reads)
        ]
        value = _value(equation.value, iter(values), at, whole)
        storage = self.local(equation, tuple(extents[loop] for loop in dims))
        if not over:
            return _StatementArray(storage, dims, value, symmetric=self.is_symmetric(value, storage))
        return self.raise_sum(equation, value, reads[own[0]], _StatementArray(storage, dims, value, over), at, extents)

    def local(self, equation: Recurrence, extents: Shape) -> Storage:
        # The part before the dot is what the user calls it.
        name = fresh_name(_label(equation), self.taken, dotted_name)
        return Storage(name, equation.dtype, extents, "local", span=equation.span)

    def raise_sum(
        self,
        equation: Recurrence,
        value: Value,
        read: Sequence[Piece],
        made: _StatementArray,
        at: Mapping[str, Affine],
        extents: Mapping[str, Affine],
    ) -> _StatementArray:
        """Sum along a loop, with its terms masked where other loops limit this loop."""
        over, points, span = made.over, self.domain(equation), equation.span
        symbol, limits = Affine.symbol(over), _inequalities(points)
        first = tuple(symbol - limit for limit in limits if limit.coefficient(over) == 1)
        last = tuple(symbol + limit for limit in limits if limit.coefficient(over) == -1)
        begin = [piece for piece in read if not _is_value_of_statement(piece, equation)]
        starting = points.intersect(self.domain(equation, _zero_union([symbol - form for form in first])))
        starts = self.domain(equation, Condition(tuple(p for piece in begin for p in piece.domain.pieces)))
        added, is_less = increment(value, _OWN, _label(equation), span)
        if not starts.is_equal(starting):
            refuse(f"the sum `{_label(equation)}` does not begin with the loop over {over}", span)
        box = self.points(_box(extents), equation.loops)
        outside = [
            limit
            for limit in limits
            if over in limit.symbols
            and not box.is_subset(self.points(Condition((Polyhedron((limit,)),)), equation.loops))
        ]
        whole_box = tuple(extents[loop] for loop in at)
        check_terms(added, str(at[over]), _label(equation), span)
        # One by one: bounds by the row and by the column are masks of different factors.
        for limit in outside:
            mask = Condition((Polyhedron((limit,)),)).substitute(at)
            added = mask_addends(added, mask, whole_box, str(at[over]), span)
        total: Value = Reduce("add", (len(made.dims),), added, span)
        place = {loop: form for loop, form in at.items() if loop != over}
        if len(first) == 1:
            place[over] = first[0].substitute(place)
        elif any(over in form.symbols for piece in begin for form in piece.origin.index):
            refuse(f"the sum `{_label(equation)}` begins with an element that its first iteration chooses", span)
        begins = self.choose(begin, equation.loops, starting, place, made.storage.shape)
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
            refuse(f"`{_label(equation)}` depends on itself, and not along one loop", equation.span)
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
        for limit in _inequalities(points):
            (loop, *others) = [*({*limit.symbols} & {*equation.loops}), ""]
            if loop and not any(others) and limit.coefficient(loop) == -1:
                found[loop].append(limit + Affine.symbol(loop) + 1)
        box = {loop: each[0] for loop, each in found.items() if each}
        if {*box} != {*found} or not points.is_subset(self.points(_box(box), equation.loops)):
            refuse(f"the loops around `{_label(equation)}` do not all run inside of a size", equation.span)
        return box

    # Reads

    def choose(
        self, pieces: Sequence[Piece], dims: Sequence[str], within: isl.Set, at: Mapping[str, Affine], whole: Shape
    ) -> Value:
        """Value of a read: of one source as it is, of several selected; outside of `within`, any."""
        found = list[tuple[isl.Set, Value]]()
        for piece in pieces:
            domain, value = self.points(piece.domain, dims), self.origin(piece.origin, piece.domain, dims, at, whole)
            # Its domain joins that of the sum: otherwise the next source would be selected there.
            value = self.empty_sum(domain, value, pieces, dims, at, whole) or value
            same = next((n for n, (_, other) in enumerate(found) if remove_spans(other) == remove_spans(value)), None)
            if same is None:
                found.append((domain, value))
            else:
                found[same] = found[same][0].union(domain), value
        # The last source needs no mask: no other one is left.
        made = found[-1][1]
        for domain, value in reversed(found[:-1]):
            mask = from_set(domain, within).substitute(at)
            made = Cases(mask, value, made, whole)
        return made

    def origin(
        self, origin: Origin, domain: Condition, dims: Sequence[str], at: Mapping[str, Affine], whole: Shape
    ) -> Value:
        """Value of a source: a constant, an argument's element, or one of another statement's array."""
        if isinstance(origin, Immediate):
            return replace(origin.constant, span=None)
        points = self.points(domain, dims)
        origin = replace(origin, index=tuple(self.align_index(form, points, dims) for form in origin.index))
        if isinstance(origin, Stored):
            storage = self.storage[origin.name]
            index = tuple(form.substitute(at) for form in origin.index)
            return Read(origin.name, storage.dtype, index, whole if storage.shape else ())
        made = self.raise_statement(origin.statement)
        index = dict(zip(self.system[origin.statement].loops, origin.index, strict=True))
        if made.over and not self.ends_sum(made, index[made.over], index, points):
            refuse(f"a sum, `{made.storage.name.split('.')[0]}`, is read before its end", self.system.span)
        place = [index[dim].substitute(at) for dim in made.dims]
        # One order of indices, so that both triangles of a result are one source.
        if made.symmetric:
            place.sort(key=str)
        if isinstance(made.value, Constant):
            return replace(made.value, span=None)
        if isinstance(made.value, Read):
            return element_view(made.value, place, whole if made.value.shape else ())
        return Read(made.storage.name, made.storage.dtype, tuple(place), whole if made.dims else ())

    def align_index(self, form: Affine, points: isl.Set, dims: Sequence[str]) -> Affine:
        """Index as a loop, of a number to which a domain limits the loop: `i` for 0 where i has one iteration."""
        loops = map(Affine.symbol, dims if form.is_constant else ())
        return next((i for i in loops if points.is_subset(self.points(_zeros([form - i]), dims))), form)

    def ends_sum(self, made: _StatementArray, form: Affine, index: Mapping[str, Affine], domain: isl.Set) -> bool:
        """Whether a sum is read in the last iteration of its loop."""
        away = [form - last.substitute(index) for last in made.last]
        dims = [domain.get_dim_name(isl.dim_type.set, n) or "" for n in range(domain.dim(isl.dim_type.set))]
        return bool(domain.is_subset(self.points(_zero_union(away), dims)))

    def empty_sum(
        self,
        domain: isl.Set,
        value: Value,
        pieces: Sequence[Piece],
        dims: Sequence[str],
        at: Mapping[str, Affine],
        whole: Shape,
    ) -> Value | None:
        """The sum among the sources that has no terms in a domain, and begins with the value that is read there."""
        for piece in pieces:
            origin = piece.origin
            made = self.made.get(origin.statement) if isinstance(origin, Produced) else None
            if made is None or made.begins is None or not isinstance(origin, Produced):
                continue
            index = dict(zip(self.system[origin.statement].loops, origin.index, strict=True))
            gaps = [(f - last).substitute(index) - 1 for f in made.first for last in made.last]
            place = [index[dim].substitute(at) for dim in made.dims]
            begins = made.begins
            if isinstance(begins, Read):
                begins = element_view(begins, place, whole if begins.shape else ())
            is_begin = remove_spans(begins) == remove_spans(value)
            if is_begin and domain.is_subset(self.points(Condition(tuple(Polyhedron((gap,)) for gap in gaps)), dims)):
                return self.origin(origin, piece.domain, dims, at, whole)
        return None


def _label(equation: Recurrence) -> str:
    return equation.statement.assign.target.name


def _is_value_of_statement(piece: Piece, equation: Recurrence) -> bool:
    return isinstance(piece.origin, Produced) and piece.origin.statement == equation.name


def _add_extents(found: Mapping[str, list[Affine]], index: Sequence[Affine], extents: Shape) -> None:
    for form, extent in zip(index, extents, strict=True):
        if (loop := index_dimension(form)) in found:
            found[loop].append(extent)


def _box(extents: Mapping[str, Affine]) -> Condition:
    symbols = {Affine.symbol(name): extent for name, extent in extents.items()}
    return Condition((Polyhedron(tuple(f for s, extent in symbols.items() for f in (s, extent - s - 1))),))


def _zeros(forms: Sequence[Affine]) -> Condition:
    """Condition that all forms are 0."""
    return Condition((Polyhedron(tuple(each for form in forms for each in (form, -form))),))


def _zero_union(forms: Sequence[Affine]) -> Condition:
    """Condition that some form is 0."""
    return Condition(tuple(Polyhedron((form, -form)) for form in forms))


def _inequalities(points: isl.Set) -> tuple[Affine, ...]:
    """Inequalities of a set that is one polyhedron; none of another one."""
    pieces = from_set(points.remove_redundancies()).pieces
    return pieces[0].constraints if len(pieces) == 1 else ()


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
