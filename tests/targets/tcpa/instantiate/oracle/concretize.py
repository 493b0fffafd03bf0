# SPDX-License-Identifier: Apache-2.0
"""Concretization: parameters and a region become numbers (paper section 6, step 1).

From the symbolic configuration, parameter values and a region come the iteration space's bounds, the tiles of a
candidate, and the conditions on a tile's digits: with I = lower + P K + J (upper - P K - J where reflected), a
constraint a.I + b.N + c >= 0 is one on J whose constant depends on K. Tiles whose constants are equal up to what their
box implies have equal conditions: `Tiles` groups them, by row and column, without visiting an element.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from tests.targets.tcpa.instantiate.oracle import cells

from polyloom.diagnostics import input_error
from polyloom.targets.tcpa.run import scan_sets
from polyloom.targets.tcpa.words.concrete import ConvexSet, Domain, HalfSpace
from polyloom.targets.tcpa.words.symbolic import Bound, Candidate, Row, Schedule, Symbolic
from polyloom.targets.tcpa.words.syntax_tree import BoundKind, Piece, TileBound, distance

Element = tuple[int, int]


def space_bounds(symbolic: Symbolic, values: Sequence[int]) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
    """Smallest and largest index a dimension, or None for an empty iteration space."""
    lower = [_bound(e.lower, values) for e in symbolic.extents]
    upper = [_bound(e.upper, values) for e in symbolic.extents]
    low, high = [x for x in lower if x is not None], [x for x in upper if x is not None]
    if len(low) < len(lower) or len(high) < len(upper) or any(a > b for a, b in zip(low, high, strict=True)):
        return None
    return tuple(low), tuple(high)


def _bound(pieces: Sequence[Bound], values: Sequence[int]) -> int | None:
    applies = (b for b in pieces if all(parametric(g, values) >= 0 for g in b.guards))
    return next((parametric(b.numerator, values) // b.denominator for b in applies), None)


def parametric(row: Row, values: Sequence[int]) -> int:
    """The value of a row's part without dimensions."""
    return row.constant + sum(a * v for a, v in zip(row.params, values, strict=True))


@dataclass(frozen=True)
class Tiling:
    """A candidate on a region, for given values. `lower`, `upper`, `sizes` (p) and `tiles` (the number of tiles that
    the space reaches) are by dimension; `extents` are the sizes in scan order. Slotless: it keeps what it derives."""

    symbolic: Symbolic
    number: int
    values: tuple[int, ...]
    lower: tuple[int, ...]
    upper: tuple[int, ...]
    rows: int
    columns: int
    sizes: tuple[int, ...]
    factor: int = 1
    """Of the schedule's interval."""

    @property
    def candidate(self) -> Candidate:
        return self.symbolic.candidates[self.number]

    @property
    def schedule(self) -> Schedule:
        schedule = self.symbolic.schedules[self.candidate.schedule]
        return replace(schedule, initiation_interval=self.factor * schedule.initiation_interval)

    @cached_property
    def tiles(self) -> tuple[int, ...]:
        return tuple(-(-(b - a + 1) // p) for a, b, p in zip(self.lower, self.upper, self.sizes, strict=True))

    @cached_property
    def extents(self) -> tuple[int, ...]:
        return tuple(self.sizes[m] for m in self.candidate.order)

    @cached_property
    def distances(self) -> tuple[tuple[int, ...], ...]:
        """The dependence vectors of the uses, in the candidate's coordinates."""
        return tuple(distance(u, self.candidate) for u in self.symbolic.uses)

    def tiles_of(self, dimension: int | None) -> int:
        return 1 if dimension is None else self.tiles[dimension]

    def affine(self, row: Row) -> tuple[tuple[int, ...], int]:
        """(coefficients of x = P K + J by dimension, constant) of a row."""
        constant = parametric(row, self.values)
        coefficients: list[int] = []
        for a, low, high, reflected in zip(row.dims, self.lower, self.upper, self.candidate.reflected, strict=True):
            constant += a * (high if reflected else low)
            coefficients.append(-a if reflected else a)
        return tuple(coefficients), constant

    def origin(self, coefficients: Sequence[int], element: Element) -> int:
        """`coefficients . P K` for the tile of an element."""
        allocated = ((self.candidate.rows, element[0]), (self.candidate.columns, element[1]))
        return sum(coefficients[m] * self.sizes[m] * k for m, k in allocated if m is not None)


def tiling(
    symbolic: Symbolic,
    number: int,
    values: tuple[int, ...],
    bounds: tuple[tuple[int, ...], tuple[int, ...]],
    region: Element,
    sizes: Sequence[int] | None,
    *,
    couple: bool = True,
) -> Tiling:
    """Tiles of p = ceil(N / t), or larger where a dependence is longer than that and t > 1. Where both tiled dimensions
    are coupled by a constraint, as in triangular nests, both take the larger p: its constant then depends on the
    difference of K alone. Without `couple` each takes its own.

    `sizes` overrides p, by dimension; PL0506 if those tiles do not cover the space or are shorter than a dependence.
    """
    lower, upper = bounds
    candidate = symbolic.candidates[number]
    count = [1] * len(lower)
    rows, columns = region[0] if candidate.rows is not None else 1, region[1] if candidate.columns is not None else 1
    for m, t in ((candidate.rows, rows), (candidate.columns, columns)):
        if m is not None:
            count[m] = t
    natural = [-(-(b - a + 1) // t) for a, b, t in zip(lower, upper, count, strict=True)]
    longest = [max((abs(u.distance[m]) for u in symbolic.uses), default=0) if t > 1 else 0 for m, t in enumerate(count)]
    needed = [max(p, d) for p, d in zip(natural, longest, strict=True)]
    chosen = needed if sizes is None else list(sizes)
    if couple and sizes is None and _coupled(symbolic, tiled := [m for m, t in enumerate(count) if t > 1]):
        chosen = [max(chosen[n] for n in tiled) if m in tiled else p for m, p in enumerate(chosen)]
    if len(chosen) != len(needed) or any(p < n for p, n in zip(chosen, needed, strict=True)):
        least = ", ".join(f"{n} >= {p}" for n, p in zip(symbolic.dimensions, needed, strict=True))
        raise input_error(
            "PL0506",
            f"tiles of {'x'.join(map(str, chosen))} do not cover the iteration space, or a dependence is longer",
            help=f"choose sizes with {least}",
        )
    return Tiling(symbolic, number, values, lower, upper, rows, columns, tuple(chosen))


def _coupled(symbolic: Symbolic, tiled: list[int]) -> bool:
    """Whether some constraint has two tiled dimensions, with coefficients of one size."""
    return len(tiled) == 2 and any(
        abs(row.dims[tiled[0]]) == abs(row.dims[tiled[1]]) != 0 for row in symbolic.constraints
    )


class Tiles:
    """The conditions within every tile, by group of tiles that have the same ones.

    `group[r, c]` numbers the groups; a group's domains are those of its `leader`, and they are computed on demand, once
    for equal constants of the constraints that matter.
    """

    def __init__(self, tiling: Tiling) -> None:
        self.tiling = tiling
        self._rows = [tiling.affine(r) for r in tiling.symbolic.constraints]
        self._scan = [tuple(coefficients[m] for m in tiling.candidate.order) for coefficients, _ in self._rows]
        self._least = [sum(min(0, a * (p - 1)) for a, p in zip(c, tiling.extents, strict=True)) for c in self._scan]
        self._conditions: dict[tuple[int, int], Domain] = {}
        self._memo: dict[tuple[int, tuple[int, ...]], Domain] = {}
        self._pieces: dict[tuple[int, int], tuple[Piece, Domain]] = {}
        self._unions: dict[tuple[ConvexSet, ...], Domain] = {}
        self._constants = self._group()
        shape = self.group.shape
        first = np.unique(self.group, return_index=True)[1]
        self.leader: list[Element] = [(int(i) // shape[1], int(i) % shape[1]) for i in first]

    def condition(self, condition: int, group: int) -> Domain:
        """The digits in condition `condition` within the tiles of a group; a union, perhaps not disjoint."""
        if (condition, group) not in self._conditions:
            conjunctions = self.tiling.symbolic.conditions[condition]
            key = (condition, tuple([self._constants[c][group] for piece in conjunctions for c in piece]))
            if key not in self._memo:
                sets = (self._convex(piece, group) for piece in conjunctions)
                self._memo[key] = tuple(dict.fromkeys(s for s in sets if s is not None))
            self._conditions[condition, group] = self._memo[key]
        return self._conditions[condition, group]

    def union(self, sets: Iterable[ConvexSet]) -> Domain:
        """`cells.union`, once for equal sets: most groups of tiles share most of their domains."""
        key = tuple(sets)
        if len(key) < 2:
            return key
        if key not in self._unions:
            self._unions[key] = cells.union(key)
        return self._unions[key]

    def piece(self, piece: Piece, group: int) -> Domain:
        """The digits of a leaf's piece, without widening."""
        # By identity, because hashing a piece takes as long as the work; the entry keeps the piece, and so its
        # identity, alive.
        key = (id(piece), group)
        if key not in self._pieces:
            domain = self.condition(piece.condition, group)
            box = self._tile_box(piece.tile) if piece.tile and domain else None
            inside = domain if box is None else (scan_sets.intersect(s, box) for s in domain)
            self._pieces[key] = piece, tuple(s for s in inside if s is not None)
        return self._pieces[key][1]

    def alike(self, conditions: Iterable[int]) -> NDArray[np.int64]:
        """By element a number, equal where the tiles agree on these conditions."""
        return np.array(self.agreement(conditions), dtype=np.int64)[self.group]

    def agreement(self, conditions: Iterable[int]) -> list[int]:
        """By group a number, equal where the groups agree on these conditions."""
        used = sorted({c for k in conditions for piece in self.tiling.symbolic.conditions[k] for c in piece})
        numbers: dict[tuple[int, ...], int] = {}
        by_group = [
            numbers.setdefault(constants, len(numbers))
            for constants in zip(*(self._constants[c] for c in used), strict=True)
        ]
        return by_group or [0] * len(self.leader)

    def _convex(self, conjunction: Sequence[int], group: int) -> ConvexSet | None:
        """The digits in a conjunction; constraints that the tile's box implies need no look."""
        cutting = [(c, constant) for c in conjunction if (constant := self._constants[c][group]) + self._least[c] < 0]
        extents = self.tiling.extents
        return scan_sets.convex_set(
            (0,) * len(extents),
            tuple(p - 1 for p in extents),
            [HalfSpace(self._scan[c], constant) for c, constant in cutting],
        )

    def _tile_box(self, bounds: Sequence[TileBound]) -> ConvexSet:
        low, high = [0] * len(self.tiling.extents), [p - 1 for p in self.tiling.extents]
        for b in bounds:
            g = self.tiling.candidate.order.index(b.dimension)
            p = self.tiling.sizes[b.dimension]
            value = {
                BoundKind.AT_LEAST: b.constant,
                BoundKind.AT_MOST: b.constant,
                BoundKind.AT_LEAST_FROM_END: p - b.constant,
            }.get(b.kind, p - 1 - b.constant)
            if b.kind in (BoundKind.AT_LEAST, BoundKind.AT_LEAST_FROM_END):
                low[g] = max(low[g], value)
            else:
                high[g] = min(high[g], value)
        return ConvexSet(tuple(low), tuple(high))

    def _group(self) -> list[list[int]]:
        """Number the groups; the constants of every constraint by group."""
        t = self.tiling
        row_numbers, column_numbers = (
            np.arange(t.rows, dtype=np.int64)[:, None],
            np.arange(t.columns, dtype=np.int64)[None, :],
        )
        tables: list[NDArray[np.int64]] = []
        for coefficients, constant in self._rows:
            ends = [(0, a * (p - 1)) for a, p in zip(coefficients, t.sizes, strict=True)]
            least, most = sum(min(e) for e in ends), sum(max(e) for e in ends)
            by_row = t.origin(coefficients, (1, 0)) * row_numbers
            by_column = t.origin(coefficients, (0, 1)) * column_numbers
            tables.append(
                np.clip(
                    constant + by_row + by_column
                    if by_row[-1].any() and by_column[:, -1].any()
                    else _either(constant, by_row, by_column),
                    -most - 1,
                    -least,
                )
            )
        groups = np.zeros((t.rows, t.columns), dtype=np.int64)
        for shape in ((t.rows, 1), (1, t.columns), (t.rows, t.columns)):
            same = [x for x in tables if x.shape == shape]
            if same:
                lines = np.stack([x.ravel() for x in same], axis=1)
                numbers = np.unique(lines, axis=0, return_inverse=True)[1].reshape(shape)
                groups = groups * (int(numbers.max()) + 1) + numbers
        unique, first, inverse = np.unique(groups, return_index=True, return_inverse=True)
        self.group: NDArray[np.int64] = inverse.reshape(groups.shape).astype(np.int64)
        at = np.unravel_index(first, groups.shape)
        assert len(unique) == len(first)
        return [np.broadcast_to(x, groups.shape)[at].tolist() for x in tables]


def _either(constant: int, by_row: NDArray[np.int64], by_column: NDArray[np.int64]) -> NDArray[np.int64]:
    """The constants of a constraint that depends on one array coordinate at most, as a line along that coordinate."""
    return constant + (by_row if by_row[-1].any() else by_column)
