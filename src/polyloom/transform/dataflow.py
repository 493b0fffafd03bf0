# SPDX-License-Identifier: Apache-2.0
"""Takes the order away from a nest: for every read, which instance of which statement wrote the value, for all parameter values.

The instances of a nest run in the lexicographic order of their sequences (`ir.nest.Statement`); the value of a read is what the
last earlier writer of the same element wrote (Feautrier, "Dataflow analysis of array and scalar references", IJPP 20(1), 1991),
which isl computes exactly. An element of an argument that nothing wrote before has its value at entry; a local that nothing wrote
has none, which is the user's error. A last read of every output after all else tells which instances wrote its final elements.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import islpy as isl

from polyloom.diagnostics import PolyloomError, input_error
from polyloom.ir.nest import Nest, Statement, Storage, accesses, dtype_of, statements
from polyloom.ir.pla import Reference
from polyloom.ir.recurrence import Final, Piece, Produced, Recurrence, Stored, System
from polyloom.sets import Affine
from polyloom.sets.isl import affine_map, affines, sample
from polyloom.transform.forward import forward
from polyloom.transform.pieces import Part, Pieces, affine_pieces, named
from polyloom.transform.prune import prune
from polyloom.transform.reduction import nested

LAST = "@last"
"""Reads the outputs after everything else; no front end can give a statement this name."""


def analyse(nest: Nest, reassociate: bool = False) -> System:
    """The equations of a checked nest: exact origins, copies forwarded, accumulations nested, what no output needs removed.

    `reassociate` allows f32 accumulations to change their order, hence their rounding.

    Raises PL0250 where a local is read that nothing wrote, PL0251 where an origin is not affine in the reader's loops.
    """
    return prune(nested(forward(flow(nest)), reassociate))


def flow(nest: Nest) -> System:
    """Every statement with the origins of its reads, and who wrote the final elements of the outputs; errors as for `analyse`."""
    order = _Order.of(nest)
    equations = tuple(Recurrence(s, dtype_of(s.assign.value, nest), tuple(order.reads(s))) for s in order.statements)
    arguments = tuple(s for s in nest.storage if s.role == "argument")
    finals = tuple(final for a in arguments for final in order.finals(a))
    return System(nest.name, nest.parameters, nest.assumptions, arguments, equations, finals, nest.span)


@dataclass(frozen=True, slots=True)
class _Order:
    """The instances as isl relations: `schedule` gives their sequences, of `width` numbers; `writes[name]` says who writes what."""

    nest: Nest
    statements: tuple[Statement, ...]
    pieces: Pieces
    width: int
    schedule: isl.UnionMap
    writes: dict[str, isl.UnionMap]

    @staticmethod
    def of(nest: Nest) -> _Order:
        found = statements(nest)
        pieces = Pieces.of(found, nest.parameters, nest.assumptions)
        width = max((2 * len(s.order) for s in found), default=2)
        times = {s.assign.name: _relation(pieces, s, _sequence(s, width), "") for s in found}
        written = {s.assign.name: _relation(pieces, s, s.assign.target.index, s.assign.target.name) for s in found}
        writes = {a.name: _union(written[s.assign.name] for s in found if s.assign.target.name == a.name) for a in nest.storage}
        return _Order(nest, found, pieces, width, _union(times.values()), writes)

    def reads(self, statement: Statement) -> Iterator[tuple[Piece, ...]]:
        for read in accesses(statement.assign.value):
            sink = _relation(self.pieces, statement, read.index, read.name)
            parts = self.produced(statement, read, sink)
            rest = self.pieces.set(statement.domain, statement.assign.name)
            for points, _ in parts:
                rest = rest.subtract(points)
            self.check_defined(statement, read, rest)
            with _refusal(statement, read):
                yield self.pieces.of_parts([*parts, (rest, Stored(read.name, read.index))], statement.assign.name)

    def produced(self, statement: Statement, read: Reference, sink: isl.Map) -> list[Part]:
        """The instances of `statement` whose element some instance wrote before, with the last one."""
        parts: list[Part] = []
        for writer, relation in self.last_writers(read.name, sink, self.schedule):
            for points, values in affine_pieces(relation.reverse()):
                index = affines(values, statement.loops)
                if index is None:
                    raise _not_affine(statement, read, f"its value comes from {_origin_text(values)}")
                parts.append((named(points, statement.loops), Produced(writer.assign.name, index)))
        return parts

    def last_writers(self, name: str, sink: isl.Map, schedule: isl.UnionMap) -> Iterator[tuple[Statement, isl.Map]]:
        """`writer[J] -> sink[I]` where J wrote last, before I, what I reads."""
        access = isl.UnionAccessInfo.from_sink(isl.UnionMap.from_map(sink))
        found = access.set_must_source(self.writes[name]).set_schedule_map(schedule).compute_flow().get_must_dependence()
        relations: dict[str | None, isl.Map] = {}
        found.foreach_map(lambda m: relations.update({m.get_tuple_name(isl.dim_type.in_): m}))
        return ((s, relations[s.assign.name]) for s in self.statements if s.assign.name in relations)

    def check_defined(self, statement: Statement, read: Reference, unwritten: isl.Set) -> None:
        point = sample(unwritten) if self.nest[read.name].role == "local" else None
        if point is not None:
            where = ", ".join(f"{n} = {point[n]}" for n in (*self.nest.parameters, *statement.loops))
            message = f"{_element(read, point)} is read before anything was assigned to it{f' when {where}' if where else ''}"
            raise input_error("PL0250", message, span=read.span, help=f"assign a first value to `{read.name}`, or make it an argument")

    def finals(self, array: Storage) -> Iterator[Final]:
        """The instances that wrote the last value of each element of `array`, which a read after all else finds."""
        cells = [f"_{n}" for n in range(len(array.shape))]
        every = isl.Map.from_multi_aff(affine_map([Affine.symbol(c) for c in cells], cells, self.nest.parameters))
        sink = every.set_tuple_name(isl.dim_type.in_, LAST).set_tuple_name(isl.dim_type.out, array.name)
        moment = Affine((), 1 + max((s.order[0][0] for s in self.statements), default=0))
        last = isl.Map.from_multi_aff(affine_map([moment, *[Affine()] * (self.width - 1)], cells, self.nest.parameters))
        schedule = self.schedule.union(isl.UnionMap.from_map(last.set_tuple_name(isl.dim_type.in_, LAST)))
        for writer, relation in self.last_writers(array.name, sink, schedule):
            target = writer.assign.target
            points = named(relation.domain(), writer.loops)
            with _refusal(writer, target):
                yield Final(array.name, target.index, writer.assign.name, self.pieces.condition(points))


def _sequence(statement: Statement, width: int) -> list[Affine]:
    """(position, direction * loop, position, ...), filled up with 0."""
    values = [v for at, loop, direction in statement.order for v in (Affine((), at), *([Affine.symbol(loop) * direction] if loop else []))]
    return [*values, *[Affine()] * (width - len(values))]


def _relation(pieces: Pieces, statement: Statement, values: Sequence[Affine], name: str) -> isl.Map:
    """`statement[loops] -> name[values]` on the statement's domain."""
    plain = isl.Map.from_multi_aff(affine_map(values, statement.loops, pieces.params))
    inside = plain.intersect_domain(pieces.set(statement.domain, statement.assign.name)).set_tuple_name(isl.dim_type.in_, statement.assign.name)
    return inside.set_tuple_name(isl.dim_type.out, name) if name else inside


def _union(relations: Iterable[isl.Map]) -> isl.UnionMap:
    made = isl.UnionMap.empty(isl.Space.params_alloc(isl.DEFAULT_CONTEXT, 0))
    for relation in relations:
        made = made.union(isl.UnionMap.from_map(relation))
    return made


def _element(reference: Reference, point: Mapping[str, int]) -> str:
    return f"{reference.name}[{', '.join(str(a.evaluate(point)) for a in reference.index)}]" if reference.index else f"`{reference.name}`"


def _origin_text(values: isl.MultiAff) -> str:
    """`S1[(floor((j)/2))]` of isl's `[N] -> { S2[j] -> S1[(floor((j)/2))] }`."""
    return str(values).rpartition("-> ")[2].removesuffix(" }")


@contextmanager
def _refusal(statement: Statement, reference: Reference) -> Generator[None]:
    """A stride in a condition is the fault of the access that it was made for."""
    try:
        yield
    except PolyloomError as error:
        raise _not_affine(statement, reference, error.diagnostics[0].message) from None


def _not_affine(statement: Statement, read: Reference, reason: str) -> PolyloomError:
    message = f"the origin of `{read.name}` in {statement.assign.name} is not affine in the loops around it: {reason}"
    return input_error("PL0251", message, span=read.span, help="index with unit coefficients, or split the loop so that none is strided")
