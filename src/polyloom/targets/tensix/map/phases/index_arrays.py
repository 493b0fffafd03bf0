# SPDX-License-Identifier: Apache-2.0
"""Values of loops as arrays, for statements that compute with them: the host lays out the values of an affine form in
ascending or descending order, as it lays out other constants, and a vector reads its lanes from neighbours.

    for i: y[i] = (2*i + 1) * x[i]      becomes      for i: y[i] = index[i] * x[i], with index = 1, 3, 5, ...

A vector unit has numbers of its lanes (L15), but a strip of lanes begins at any element of an array, and `Dst` holds
what the unpacker brings: an array costs one more operand, which is unpacked beside the others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import gcd
from typing import Final, NamedTuple

from polyloom.analysis.loop_ranges import Range, form_range
from polyloom.ir.arrays.program import Form, Read, Store, axes
from polyloom.ir.nest import Apply, Assign, Constant, Expression, Index, Loop, Nest, Node, Storage, taken_names
from polyloom.ir.nest_rewrite import Rewriter
from polyloom.ir.operations import FLOATS, ElementType
from polyloom.ir.pla import Reference
from polyloom.names import dotted_name, fresh_name
from polyloom.sets import Affine, Condition, Polyhedron
from polyloom.targets.tensix.words.arrays.views import Views
from polyloom.transform.stages.integers.carried_terms import EXACT

_LARGE: Final = 4096
"""Values from which on an array of a form of several loops is worth an addition of two smaller ones."""


class _Progression(NamedTuple):
    """Arithmetic progression: what arrays of its elements have in common."""

    dtype: ElementType
    step: int
    residue: int


@dataclass(frozen=True, slots=True)
class _Table:
    """Array of the values of a progression in a range, from its `first` one on."""

    name: str
    range: Range
    first: int


def lay_out_indices(nest: Nest, lanes: frozenset[str], ranges: Mapping[str, Range]) -> tuple[Nest, Views | None]:
    """Nest at its sizes whose values of loops are elements of arrays, and the arrays; None for a nest that computes
    with none. `lanes` are the loops that are vectors.
    """
    collected = _Collector(nest, lanes, ranges)
    collected.nodes(nest.body)
    if not collected.found:
        return nest, None
    taken = taken_names(nest)
    tables = {
        progression: [
            _Table(fresh_name("index", taken, dotted_name), each, _start_value(each, progression)) for each in kept
        ]
        for progression, kept in ((p, _merge_ranges(of)) for p, of in collected.found.items())
    }
    made = tuple(_storage(progression, table) for progression, kept in tables.items() for table in kept)
    body = _Replacement(nest, lanes, ranges, tables).nodes(nest.body)
    stores = tuple(_store(progression, table) for progression, kept in tables.items() for table in kept)
    views = Views(nest.name, (), Condition((Polyhedron(()),)), made, stores, nest.span)
    return replace(nest, storage=(*nest.storage, *made), body=body), views


def _start_value(range: Range, progression: _Progression) -> int:
    return range[0] if progression.step > 0 else range[1]


def _storage(progression: _Progression, table: _Table) -> Storage:
    low, high = table.range
    return Storage(table.name, progression.dtype, (Affine((), (high - low) // abs(progression.step) + 1),))


def _store(progression: _Progression, table: _Table) -> Store:
    storage = _storage(progression, table)
    (axis,) = axes(1)
    target = Read(table.name, storage.dtype, (axis,), storage.shape)
    return Store(target, Form(axis * progression.step + table.first, storage.dtype, storage.shape))


def _merge_ranges(ranges: Sequence[Range]) -> list[Range]:
    """Unions of the ranges that overlap (intervals; sorted by their ends)."""
    merged: list[Range] = []
    for low, high in sorted(ranges):
        if merged and low <= merged[-1][1]:
            merged[-1] = merged[-1][0], max(merged[-1][1], high)
        else:
            merged.append((low, high))
    return merged


class _Indices(Rewriter):
    """Walk over the values of loops in statements; `lane` is the vector around the place."""

    def __init__(self, nest: Nest, lanes: frozenset[str], ranges: Mapping[str, Range]) -> None:
        self.lanes, self.ranges, self.lane = lanes, ranges, ""
        # A nest for phases has one type, which is that of a number without another one.
        self.dtype: ElementType = "f32" if any(s.dtype in FLOATS for s in nest.storage) else "i32"

    def loop(self, node: Loop) -> tuple[Node, ...]:
        before = self.lane
        self.lane = node.name if node.name in self.lanes else before
        body = self.nodes(node.body)
        self.lane = before
        return (replace(node, body=body),)

    def assignment(self, node: Assign) -> Assign:
        return replace(node, value=self.value(node.value))

    def value(self, value: Expression) -> Expression:
        if not isinstance(value, Index):
            return super().value(value)
        if value.value.is_constant:
            return Constant(value.value.constant, self.dtype)
        split = self.split(value)
        return self.element(value) if split is None else Apply("add", self.dtype, (*map(self.value, split),))

    def split(self, index: Index) -> tuple[Index, Index] | None:
        """The part of a form that the lane has, and the rest, where an array of all values would be long, or lanes were
        no neighbours in it.
        """
        form = index.value
        own = self.lane if self.lane in form.symbols else form.terms[-1][0]
        part = Affine.symbol(own) * form.coefficient(own)
        parts = part, form - part
        (low, high), step = form_range(form, self.ranges), abs(self.step(form))
        is_gathered = own == self.lane and abs(form.coefficient(own)) != step
        if parts[1].is_constant or ((high - low) // step < _LARGE and not is_gathered):
            return None
        # A sum of floats is the rounded number only where nothing is rounded.
        sizes = [abs(end) for each in (form, *parts) for end in form_range(each, self.ranges)]
        if self.dtype in FLOATS and max(sizes) > EXACT:
            return None
        return replace(index, value=parts[0]), replace(index, value=parts[1])

    def step(self, form: Affine) -> int:
        """Difference of neighbours in an array of a form's values, such that those of lanes ascend in the array."""
        common = gcd(*(factor for _, factor in form.terms))
        return -common if form.coefficient(self.lane) < 0 else common

    def range(self, index: Index) -> tuple[_Progression, Range]:
        """Values of a form, and what they have in common."""
        low, high = form_range(index.value, self.ranges)
        step = self.step(index.value)
        # A loop without iterations has an array of one element, which nothing reads.
        return _Progression(self.dtype, step, low % abs(step)), (low, max(low, high))

    def element(self, index: Index) -> Expression:
        raise NotImplementedError


class _Collector(_Indices):
    """Collection of the ranges of forms, by progression (mutable)."""

    def __init__(self, nest: Nest, lanes: frozenset[str], ranges: Mapping[str, Range]) -> None:
        super().__init__(nest, lanes, ranges)
        self.found = dict[_Progression, list[Range]]()

    def element(self, index: Index) -> Expression:
        progression, range = self.range(index)
        self.found.setdefault(progression, []).append(range)
        return index


class _Replacement(_Indices):
    """Replacement of values by the elements of `tables`."""

    def __init__(
        self,
        nest: Nest,
        lanes: frozenset[str],
        ranges: Mapping[str, Range],
        tables: Mapping[_Progression, Sequence[_Table]],
    ) -> None:
        super().__init__(nest, lanes, ranges)
        self.tables = tables

    def element(self, index: Index) -> Expression:
        progression, (low, high) = self.range(index)
        table = next(t for t in self.tables[progression] if t.range[0] <= low and high <= t.range[1])
        number = index.value - table.first
        step = progression.step
        assert not number.constant % step, "the first value belongs to the progression"
        at = Affine.from_terms({name: factor // step for name, factor in number.terms}, number.constant // step)
        return Reference(table.name, (at,), index.span)
