# SPDX-License-Identifier: Apache-2.0
"""Origins of one read as few disjoint pieces with simple conditions.

Where an index map that holds on many points also holds on few others (a boundary, where the loops satisfy an equation),
the two are one piece; where an equation leaves a choice, a loop that reader and writer share keeps a constant distance.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile

import islpy as isl

from polyloom.ir.nest import Statement
from polyloom.ir.recurrence import Immediate, Origin, Piece, Produced, Stored
from polyloom.sets import Affine, Condition, Polyhedron
from polyloom.sets.isl import from_set, parameter_set, sample, to_set

SMALL = 4
"""Parameters below this are rare."""
Index = tuple[Affine, ...]
Part = tuple[isl.Set, Origin]
"""Points of the reader's loops, and where their values come from."""


@dataclass(frozen=True, slots=True)
class Pieces:
    """Makes pieces of reads in a nest whose statements' loops are `loops`, for the parameter values of `domain`."""

    params: tuple[str, ...]
    domain: isl.Set
    loops: Mapping[str, tuple[str, ...]]

    @staticmethod
    def from_statements(statements: Sequence[Statement], params: tuple[str, ...], assumptions: Condition) -> Pieces:
        return Pieces(params, parameter_set(assumptions, params), {s.assign.name: s.loops for s in statements})

    def set(self, condition: Condition, reader: str) -> isl.Set:
        return to_set(condition, self.loops[reader], self.params).intersect_params(self.domain)

    def is_rare(self, points: isl.Set) -> bool:
        """Whether there are only `points` where some parameter is small."""
        # Nothing left for large parameters: the points are a border case of small sizes.
        return points.intersect_params(
            parameter_set(Condition((Polyhedron(tuple(Affine.symbol(p) - SMALL for p in self.params)),)), self.params)
        ).is_empty()

    def condition(self, points: isl.Set) -> Condition:
        """`points` in few polyhedra; raises PL0201 when they have a stride."""
        return from_set(points.coalesce().gist_params(self.domain))

    def join_parts(self, parts: Sequence[Part], reader: str) -> tuple[Piece, ...]:
        """The parts joined; they are disjoint, and so are the pieces. Raises PL0201 when a domain has a stride."""
        joined: list[Part] = []
        # Full-dimensional parts first: their function is the one to keep, and boundaries, on which more equations hold,
        # join it.
        for points, origin in sorted(
            (p for p in parts if not p[0].is_empty()), key=lambda part: _equation_count(part[0])
        ):
            self._join(joined, points.coalesce(), origin, reader)
        pieces = [Piece(self.condition(points), self._uniform(points, origin, reader)) for points, origin in joined]
        return tuple(
            sorted(
                pieces,
                key=lambda p: (isinstance(p.origin, Stored), origin_name(p.origin), str(p.origin), str(p.domain)),
            )
        )

    def _join(self, joined: list[Part], points: isl.Set, origin: Origin, reader: str) -> None:
        for n, (others, other) in enumerate(joined):
            if (
                origin_name(other) == origin_name(origin)
                and type(other) is type(origin)
                and self.agree(points, other.index, origin.index, reader)
            ):
                joined[n] = (others.union(points).coalesce(), other)
                return
        joined.append((points, origin))

    def agree(self, points: isl.Set, a: Index, b: Index, reader: str) -> bool:
        """Whether two index functions are equal on all `points`."""
        apart = [difference for x, y in zip(a, b, strict=True) if x != y for difference in (x - y - 1, y - x - 1)]
        return points.intersect(self.set(Condition(tuple(Polyhedron((d,)) for d in apart)), reader)).is_empty()

    def _uniform(self, points: isl.Set, origin: Origin, reader: str) -> Origin:
        if not isinstance(origin, Produced) or not _equation_count(points):
            return origin
        point = sample(points) or {}
        index = list(origin.index)
        for n, loop in enumerate(self.loops[origin.statement]):
            if loop in self.loops[reader] and not (index[n] - Affine.symbol(loop)).is_constant:
                # On a boundary isl may write i as a function of another loop. If i plus a constant agrees everywhere,
                # that is the uniform form.
                # The constant that holds at one point is the only candidate.
                shifted = Affine.symbol(loop) + (index[n].evaluate(point) - point[loop])
                index[n] = shifted if self.agree(points, (index[n],), (shifted,), reader) else index[n]
        return Produced(origin.statement, tuple(index))


def affine_pieces(relation: isl.Map) -> list[tuple[isl.Set, isl.MultiAff]]:
    """Piecewise affine function of a single-valued relation, on disjoint sets (isl manual, piecewise multi affine
    expressions).
    """
    found: list[tuple[isl.Set, isl.MultiAff]] = []
    relation.coalesce().as_pw_multi_aff().coalesce().foreach_piece(
        lambda points, values: found.append((points, values))
    )
    return found


def shared_loops(a: Statement, b: Statement) -> tuple[str, ...]:
    """The loops that stand around both statements, outermost first."""
    steps = takewhile(lambda pair: pair[0] == pair[1], zip(a.order, b.order, strict=False))
    return tuple(loop for (_, loop, _), _ in steps if loop)


def split_by_level(relation: isl.Map, shared: int) -> Iterator[isl.Map]:
    """Parts of `relation`: the pairs of part n agree in the first n of the `shared` dimensions and differ in the next
    one.

    Within a loop that carries a value, and only there, the origin is one function of the loops. Where loops have two
    iterations, isl may find one function for parts of several levels, such as (dx + dy - 1, -dx + 1) for both (dy, dx -
    1) and (dy - 1, 1).
    """
    rest = relation
    for n in range(shared):
        same = rest.equate(isl.dim_type.in_, n, isl.dim_type.out, n)
        yield rest.subtract(same)
        rest = same
    yield rest


def with_loop_names(points: isl.Set, loops: tuple[str, ...]) -> isl.Set:
    """`points` without the name of a statement, its dimensions named `loops`."""
    plain = points.reset_tuple_id()
    for n, loop in enumerate(loops):
        plain = plain.set_dim_name(isl.dim_type.set, n, loop)
    return plain


def origin_name(origin: Origin) -> str:
    """The statement, the array or the constant."""
    match origin:
        case Produced(statement=statement):
            return statement
        case Stored(name=name):
            return name
        case Immediate(constant=constant):
            return str(constant.value)


def _equation_count(points: isl.Set) -> int:
    """How many independent equations hold on all points, hence how many dimensions they lack."""
    return sum(c.is_equality() for c in points.affine_hull().get_constraints())
