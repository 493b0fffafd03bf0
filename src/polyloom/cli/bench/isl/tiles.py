# SPDX-License-Identifier: Apache-2.0
"""Concretization: the conditions of a polyhedral syntax tree in every tile, as isl maps from elements K to digits J
(section 6).

With I = lower + P K + J (upper - P K - J where reflected) a condition on I is one on (K, J), linear once P is a number.
The map of a leaf is the paper's `split`: it takes a tile to the leaf's intra-tile domain.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import reduce

import islpy as isl

from polyloom.targets.tcpa.words.symbolic import Candidate, Kind, Link, Row, Symbolic
from polyloom.targets.tcpa.words.syntax_tree import (
    BoundKind,
    Piece,
    TileBound,
    UnitNode,
    build_tree,
    distance,
    tile_bounds,
)

PARAM, IN, OUT, SET = isl.dim_type.param, isl.dim_type.in_, isl.dim_type.out, isl.dim_type.set


@dataclass(frozen=True, slots=True)
class Prepared:
    """A candidate with its syntax tree; `conditions[c]` is [parameters] -> { [I] }, coalesced. `interval` is that of
    its schedule, or the multiple that the library chose."""

    symbolic: Symbolic
    candidate: Candidate
    tree: tuple[UnitNode, ...]
    conditions: tuple[isl.Set, ...]
    interval: int

    @property
    def units(self) -> int:
        return len(self.symbolic.limits.units)


def prepare(symbolic: Symbolic, candidate: int, interval: int | None = None) -> Prepared:
    """What depends neither on parameters nor on the region, but for the interval where it is given."""
    own = symbolic.candidates[candidate]
    usual = symbolic.schedules[own.schedule].initiation_interval
    conditions = tuple(_parse(symbolic, conjunctions).coalesce() for conjunctions in symbolic.conditions)
    return Prepared(symbolic, own, build_tree(symbolic, candidate).units, conditions, interval or usual)


def _parse(symbolic: Symbolic, conjunctions: Sequence[Sequence[int]]) -> isl.Set:
    names, dims = (
        [f"{letter}{n}" for n in range(len(all))]
        for letter, all in (("n", symbolic.parameters), ("i", symbolic.dimensions))
    )
    pieces = (
        " and ".join(["true", *(f"{_text(symbolic.constraints[c], dims, names)} >= 0" for c in piece)])
        for piece in conjunctions
    )
    return isl.Set(
        f"[{', '.join(names)}] -> {{ [{', '.join(dims)}] : {' or '.join(f'({p})' for p in pieces) or 'false'} }}"
    )


def _text(row: Row, dims: Sequence[str], names: Sequence[str]) -> str:
    return " + ".join(
        [
            *(f"{a} * {x}" for a, x in zip((*row.dims, *row.params), (*dims, *names), strict=True) if a),
            str(row.constant),
        ]
    )


class Tiles:
    """The maps K -> J of conditions and pieces on a region, and which elements have work and drive which ports."""

    def __init__(
        self, prepared: Prepared, values: Sequence[int], region: tuple[int, int], sizes: Sequence[int]
    ) -> None:
        self.prepared, self.sizes = prepared, sizes
        self.extents = tuple(sizes[m] for m in prepared.candidate.order)
        self.region = box(region)
        used = sorted(
            {n.condition for n in prepared.symbolic.nodes}
            | {w.condition for u in prepared.symbolic.uses for w in u.writers}
        )
        fixed = {c: _fix(prepared.conditions[c], values) for c in used}
        space = reduce(isl.Set.union, (fixed[c] for c in {n.condition for n in prepared.symbolic.nodes}))
        self.lower = [_number(space.dim_min_val(m)) for m in range(len(sizes))]
        self.upper = [_number(space.dim_max_val(m)) for m in range(len(sizes))]
        bounds, tiling = box((*region, *self.extents)), self._tiling()
        self._conditions = {
            c: _unflatten(s.preimage_multi_aff(tiling).intersect(bounds).coalesce()) for c, s in fixed.items()
        }
        self._pieces: dict[tuple[int, tuple[TileBound, ...]], isl.Map] = {}
        nodes = prepared.symbolic.nodes
        self.occupied = self._elements(self._conditions[c] for c in {n.condition for n in nodes})
        self._leaving = self._traffic()
        self._driven: dict[int, isl.Set] = {}

    def condition(self, number: int) -> isl.Map:
        return self._conditions[number]

    def piece(self, piece: Piece) -> isl.Map:
        key = piece.condition, piece.tile
        if key not in self._pieces:
            self._pieces[key] = reduce(self._bound_tile, piece.tile, self._conditions[piece.condition])
        return self._pieces[key]

    def driven(self, register: int) -> isl.Set:
        """The elements whose output register drives something."""
        if register not in self._driven:
            candidate, symbolic = self.prepared.candidate, self.prepared.symbolic
            found = [
                leaving
                for route, leaving in zip(candidate.routes, self._leaving, strict=True)
                if route.output == register
            ]
            written = (
                o.producer for o, r in zip(symbolic.outputs, candidate.output_registers, strict=True) if r == register
            )
            found += [self._conditions[symbolic.nodes[v].condition].domain() for v in written]
            self._driven[register] = reduce(isl.Set.union, found, isl.Set.empty(self.region.get_space())).coalesce()
        return self._driven[register]

    def clamp(self, displacement: tuple[int, int]) -> isl.Map:
        """Every element to the nearest one whose neighbour at `displacement` has a tile; to itself without one."""
        space = self.region.get_space().map_from_set()
        identity = isl.MultiPwAff.identity(space)
        candidate = self.prepared.candidate
        counts = [
            1 if m is None else -(-(self.upper[m] - self.lower[m] + 1) // self.sizes[m])
            for m in (candidate.rows, candidate.columns)
        ]
        # A region that is narrower than the displacement has no element to clamp to.
        if any(d and n <= abs(d) for d, n in zip(displacement, counts, strict=True)):
            return isl.Map.from_multi_pw_aff(identity)
        clamped = identity
        for axis, (d, n) in enumerate(zip(displacement, counts, strict=True)):
            at = identity.get_at(axis)
            clamped = clamped.set_pw_aff(axis, at.max(_constant(at, max(0, -d))).min(_constant(at, n - 1 - max(0, d))))
        return isl.Map.from_multi_pw_aff(clamped)

    def _tiling(self) -> isl.MultiAff:
        """(K, J) -> I."""
        candidate, n = self.prepared.candidate, len(self.sizes)
        space = isl.Space.alloc(isl.DEFAULT_CONTEXT, 0, 2 + n, n)
        tiling = isl.MultiAff.zero(space)
        for m, (low, high, p, down) in enumerate(
            zip(self.lower, self.upper, self.sizes, candidate.reflected, strict=True)
        ):
            # A reflected dimension counts from its upper bound down.
            sign = -1 if down else 1
            row = isl.Aff.zero_on_domain(isl.LocalSpace.from_space(space.domain())).set_constant_val(
                high if down else low
            )
            row = row.set_coefficient_val(IN, 2 + candidate.order.index(m), sign)
            for axis, mapped in enumerate((candidate.rows, candidate.columns)):
                if mapped == m:
                    row = row.set_coefficient_val(IN, axis, sign * p)
            tiling = tiling.set_aff(m, row)
        return tiling

    def _bound_tile(self, domain: isl.Map, b: TileBound) -> isl.Map:
        g, p = self.prepared.candidate.order.index(b.dimension), self.sizes[b.dimension]
        match b.kind:
            case BoundKind.AT_LEAST:
                return domain.lower_bound_val(OUT, g, b.constant)
            case BoundKind.AT_MOST:
                return domain.upper_bound_val(OUT, g, b.constant)
            case BoundKind.AT_LEAST_FROM_END:
                return domain.lower_bound_val(OUT, g, p - b.constant)
            case BoundKind.AT_MOST_FROM_END:
                return domain.upper_bound_val(OUT, g, p - 1 - b.constant)

    def _traffic(self) -> list[isl.Set]:
        """By route: the elements that send tokens over it, because the element that they arrive at reads them."""
        candidate = self.prepared.candidate
        readers: list[list[isl.Map]] = [[] for _ in candidate.routes]
        for u, links in enumerate(candidate.links):
            for link in links:
                if link.kind is Kind.CHANNEL:
                    readers[link.register].append(self._reads(u, link))
        return [
            self._sources(self._elements(pieces), route.displacement)
            for pieces, route in zip(readers, candidate.routes, strict=True)
        ]

    def _reads(self, use: int, link: Link) -> isl.Map:
        candidate, symbolic = self.prepared.candidate, self.prepared.symbolic
        u = symbolic.uses[use]
        return self.piece(
            Piece(
                symbolic.nodes[u.consumer].condition, tile_bounds(distance(u, candidate), link.displacement, candidate)
            )
        )

    def _sources(self, elements: isl.Set, displacement: tuple[int, int]) -> isl.Set:
        """The occupied elements at -displacement from `elements`."""
        moved = isl.MultiAff.identity(self.region.get_space().map_from_set())
        for axis, d in enumerate(displacement):
            moved = moved.set_aff(axis, moved.get_aff(axis).add_constant_val(d))
        return elements.preimage_multi_aff(moved).intersect(self.occupied).coalesce()

    def _elements(self, maps: Iterable[isl.Map]) -> isl.Set:
        return reduce(isl.Set.union, (m.domain() for m in maps), isl.Set.empty(self.region.get_space())).coalesce()


def _fix(condition: isl.Set, values: Sequence[int]) -> isl.Set:
    for n, value in enumerate(values):
        condition = condition.fix_val(PARAM, n, value)
    return condition.project_out(PARAM, 0, len(values)).coalesce()


def box(sizes: Sequence[int]) -> isl.Set:
    """{ [x] : 0 <= x < sizes }."""
    found = isl.Set.universe(isl.Space.set_alloc(isl.DEFAULT_CONTEXT, 0, len(sizes)))
    for g, size in enumerate(sizes):
        found = found.lower_bound_val(SET, g, 0).upper_bound_val(SET, g, size - 1)
    return found


def _unflatten(tiled: isl.Set) -> isl.Map:
    """{ [K, J] } as { [K] -> [J] }."""
    flat = isl.Map.from_domain(tiled)
    return flat.move_dims(OUT, 0, IN, 2, flat.dim(IN) - 2)


def _number(value: isl.Val) -> int:
    return int(value.to_python())


def _constant(like: isl.PwAff, value: int) -> isl.PwAff:
    return isl.PwAff.from_aff(
        isl.Aff.zero_on_domain(isl.LocalSpace.from_space(like.get_domain_space())).set_constant_val(value)
    )
