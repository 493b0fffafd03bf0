# SPDX-License-Identifier: Apache-2.0
"""Which instance of which statement wrote an element last, as isl relations, for all parameter values.

The instances of a nest run in the lexicographic order of their sequences (`ir.nest.Statement`); isl finds the last
writer before each read (Feautrier, "Dataflow analysis of array and scalar references", IJPP 20(1), 1991). What an
output finally holds is what a read after everything else would find.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import islpy as isl

from polyloom.ir.nest import (
    Assign,
    Loop,
    Nest,
    Node,
    Statement,
    Storage,
    accesses,
    schedule_vector,
    statements,
    taken_names,
)
from polyloom.ir.nest_rewrite import Rewriter
from polyloom.ir.pla import Reference
from polyloom.names import fresh_name, hidden_dims, hidden_name
from polyloom.sets import Affine
from polyloom.sets.isl import affine_map
from polyloom.transform.pieces import Pieces, with_loop_names

LAST = hidden_name("last")
"""Reads the outputs after everything else; no front end can give a statement this name."""


@dataclass(frozen=True, slots=True)
class Writers:
    """Last writers of elements: exact instance-wise dataflow over 2d + 1 schedules (Feautrier 1991; isl manual, section
    on dependence analysis). `schedule` gives sequences of `width` numbers; `writes[name]` says who writes what.
    """

    nest: Nest
    statements: tuple[Statement, ...]
    pieces: Pieces
    width: int
    schedule: isl.UnionMap
    writes: dict[str, isl.UnionMap]
    position: dict[str, int]

    @staticmethod
    def from_nest(nest: Nest) -> Writers:
        found = statements(nest)
        pieces = Pieces.from_statements(found, nest.parameters, nest.assumptions)
        # Position and loop alternate (2d + 1 schedules: Feautrier, 1992; Kelly and Pugh, 1993); all are filled up to
        # one length, so that isl can compare them.
        width = max((2 * len(s.order) for s in found), default=2)
        times = [_relation(pieces, s, _sequence(s, width), "") for s in found]
        written = {s.assign.name: _relation(pieces, s, s.assign.target.index, s.assign.target.name) for s in found}
        writes = {
            a.name: _union(written[s.assign.name] for s in found if s.assign.target.name == a.name)
            for a in nest.storage
        }
        return Writers(
            nest, found, pieces, width, _union(times), writes, {s.assign.name: n for n, s in enumerate(found)}
        )

    def reaching_writers(self, reader: Statement, read: Reference) -> Iterator[tuple[Statement, isl.Map]]:
        """`reader[I] -> writer[J]` where J wrote, before I and last, what I reads as `read`."""
        sink = _relation(self.pieces, reader, read.index, read.name)
        return ((writer, relation.reverse()) for writer, relation in self._flow_sources(read.name, sink, self.schedule))

    def textual_predecessor(self, reader: Statement, read: Reference) -> Statement | None:
        """The statement that wrote what every instance of `reader` reads as `read` just before, in the same iteration:
        the nearest one in the text that writes the array, if it stands in the same block and writes the same element
        under the same condition. That it is the last writer needs no search, which would take long in long blocks."""
        earlier = (
            s
            for s in reversed(self.statements[: self.position[reader.assign.name]])
            if s.assign.target.name == read.name
        )
        nearest = next(earlier, None)
        if nearest is None or nearest.order[:-1] != reader.order[:-1] or nearest.loops != reader.loops:
            return None
        return nearest if (nearest.assign.target.index, nearest.domain) == (read.index, reader.domain) else None

    def unwritten(self, reader: Statement, read: Reference) -> isl.Set:
        """The instances of `reader` whose element nobody wrote before."""
        rest = self.pieces.set(reader.domain, reader.assign.name)
        for _, relation in self.reaching_writers(reader, read):
            rest = rest.subtract(with_loop_names(relation.domain(), reader.loops))
        return rest

    def finally_(self, array: Storage) -> Iterator[tuple[Statement, isl.Set]]:
        """The instances that wrote the last value of an element of `array`."""
        cells = hidden_dims(len(array.shape))
        every = isl.Map.from_multi_aff(affine_map([Affine.symbol(c) for c in cells], cells, self.nest.parameters))
        sink = every.set_tuple_name(isl.dim_type.in_, LAST).set_tuple_name(isl.dim_type.out, array.name)
        # A virtual reader after the last statement: outputs are what it finds.
        moment = Affine((), 1 + max((s.order[0][0] for s in self.statements), default=0))
        last = isl.Map.from_multi_aff(affine_map([moment, *[Affine()] * (self.width - 1)], cells, self.nest.parameters))
        schedule = self.schedule.union(isl.UnionMap.from_map(last.set_tuple_name(isl.dim_type.in_, LAST)))
        return (
            (writer, with_loop_names(relation.domain(), writer.loops))
            for writer, relation in self._flow_sources(array.name, sink, schedule)
        )

    def _flow_sources(self, name: str, sink: isl.Map, schedule: isl.UnionMap) -> Iterator[tuple[Statement, isl.Map]]:
        """`writer[J] -> sink[I]`, in the order of the statements."""
        # All writes are must-writes: nests have no data-dependent conditions left, they have become selects.
        access = isl.UnionAccessInfo.from_sink(isl.UnionMap.from_map(sink))
        found = (
            access.set_must_source(self.writes[name]).set_schedule_map(schedule).compute_flow().get_must_dependence()
        )
        relations: dict[str | None, isl.Map] = {}
        found.foreach_map(lambda m: relations.update({m.get_tuple_name(isl.dim_type.in_): m}))
        return ((s, relations[s.assign.name]) for s in self.statements if s.assign.name in relations)


def _sequence(statement: Statement, width: int) -> list[Affine]:
    """Schedule vector, filled up with 0."""
    values = schedule_vector(statement)
    return [*values, *[Affine()] * (width - len(values))]


def _relation(pieces: Pieces, statement: Statement, values: Sequence[Affine], name: str) -> isl.Map:
    """`statement[loops] -> name[values]` on the statement's domain."""
    plain = isl.Map.from_multi_aff(affine_map(values, statement.loops, pieces.params))
    inside = plain.intersect_domain(pieces.set(statement.domain, statement.assign.name)).set_tuple_name(
        isl.dim_type.in_, statement.assign.name
    )
    return inside.set_tuple_name(isl.dim_type.out, name) if name else inside


def _union(relations: Iterable[isl.Map]) -> isl.UnionMap:
    made = isl.UnionMap.empty(isl.Space.params_alloc(isl.DEFAULT_CONTEXT, 0))
    for relation in relations:
        made = made.union(isl.UnionMap.from_map(relation))
    return made


def runs_in_place(nest: Nest, result: str, read: str) -> bool:
    """In-place execution (Feautrier 1991): whether a nest computes the same where the array `read` is the array
    `result`, of the same shape, which it writes, for all values of the parameters. No element is then read behind a
    write of it, so that neither order nor values change.
    """
    if nest[result].shape != nest[read].shape or nest[result].dtype != nest[read].dtype:
        return False
    one = replace(nest, body=_RenamedArray(read, result).nodes(nest.body))
    writers = Writers.from_nest(one)
    # What reads the one array in the nest reads an element of the other, too, where they are one.
    return not any(
        True
        for old, new in zip(statements(nest), writers.statements, strict=True)
        for reference in accesses(old.assign.value)
        if reference.name == read
        for _ in writers.reaching_writers(new, replace(reference, name=result))
    )


def execute_in_place(nest: Nest, result: str, read: str) -> Nest:
    """In-place form of a nest where the array `read` is the array `result` itself (anti-dependences; Bernstein 1966):
    with one name for both where no element is read behind a write of it, else on a copy of what was there before.
    """
    body = _RenamedArray(read, result).nodes(nest.body)
    if runs_in_place(nest, result, read):
        return replace(nest, body=body, storage=tuple(s for s in nest.storage if s.name != read))
    # The copy is what was there before the first store.
    storage = tuple(replace(s, role="local") if s.name == read else s for s in nest.storage)
    names = taken_names(nest)
    loops = [fresh_name("i", names) for _ in nest[read].shape]
    index = tuple(map(Affine.symbol, loops))
    span = nest[read].span
    copy: Node = Assign(fresh_name("copy", names), Reference(read, index), Reference(result, index), span)
    for loop, extent in reversed([*zip(loops, nest[read].shape, strict=True)]):
        copy = Loop(loop, (Affine(),), (extent,), (copy,), span=span)
    return replace(nest, body=(copy, *nest.body), storage=storage)


class _RenamedArray(Rewriter):
    """References to one array as references to another."""

    def __init__(self, old: str, new: str) -> None:
        self.old, self.new = old, new

    def reference(self, reference: Reference) -> Reference:
        return replace(reference, name=self.new) if reference.name == self.old else reference
