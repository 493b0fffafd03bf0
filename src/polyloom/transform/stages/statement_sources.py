# SPDX-License-Identifier: Apache-2.0
"""Sources of the reads of a system as values of whole arrays: one source as it is, several selected by comparisons of
indices (P. Feautrier, Dataflow analysis of array and scalar references, 1991, for the sources).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import islpy as isl

from polyloom.analysis.dataflow import refuse
from polyloom.ir.arrays.program import Cases, Read, Shape, Value, element_view
from polyloom.ir.nest import Storage
from polyloom.ir.pla import Constant
from polyloom.ir.recurrence import Immediate, Origin, Piece, Produced, Stored, System
from polyloom.sets import Affine, Condition, Polyhedron
from polyloom.sets.isl import from_set
from polyloom.transform.stages.array_terms import remove_spans
from polyloom.transform.stages.system_domains import Domains, any_equality, equalities


@dataclass(frozen=True, slots=True)
class StatementArray:
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


@dataclass(frozen=True, slots=True)
class Sources:
    """Sources of a system's reads. `raise_statement` gives the array of a statement, `made` has those that it gave."""

    system: System
    domains: Domains
    storage: Mapping[str, Storage]
    made: Mapping[str, StatementArray]
    raise_statement: Callable[[str], StatementArray]

    def select(
        self, pieces: Sequence[Piece], dims: Sequence[str], within: isl.Set, at: Mapping[str, Affine], whole: Shape
    ) -> Value:
        """Value of a read: of one source as it is, of several selected; outside of `within`, any."""
        found = list[tuple[isl.Set, Value]]()
        for piece in pieces:
            domain = self.domains.points(piece.domain, dims)
            value = self.origin(piece.origin, piece.domain, dims, at, whole)
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
        points = self.domains.points(domain, dims)
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
        return next((i for i in loops if points.is_subset(self.domains.points(equalities([form - i]), dims))), form)

    def ends_sum(self, made: StatementArray, form: Affine, index: Mapping[str, Affine], domain: isl.Set) -> bool:
        """Whether a sum is read in the last iteration of its loop."""
        away = [form - last.substitute(index) for last in made.last]
        dims = [domain.get_dim_name(isl.dim_type.set, n) or "" for n in range(domain.dim(isl.dim_type.set))]
        return bool(domain.is_subset(self.domains.points(any_equality(away), dims)))

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
            empty = self.domains.points(Condition(tuple(Polyhedron((gap,)) for gap in gaps)), dims)
            if remove_spans(begins) == remove_spans(value) and domain.is_subset(empty):
                return self.origin(origin, piece.domain, dims, at, whole)
        return None
