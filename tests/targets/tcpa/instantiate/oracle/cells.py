# SPDX-License-Identifier: Apache-2.0
"""Disjoint parts of unions of sets: which of several families hold where.

The bounds of all boxes cut their hull into cells. A family holds or does not in a whole cell, but where one of its
half-spaces cuts the cell; only such cells are split. Parts are cut into boxes again by their points alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property, lru_cache, partial, reduce
from math import prod

import numpy as np
from numpy.typing import NDArray
from tests.targets.tcpa.instantiate.oracle.stepping import negated

from polyloom.targets.tcpa.run.scan_sets import convex_set, scan_order
from polyloom.targets.tcpa.words.concrete import ConvexSet, Domain, HalfSpace

_Cut = tuple[int, tuple[HalfSpace, ...]]
_Mixed = dict[tuple[int, ...], list[_Cut]]
"""Cells that half-spaces cut: the families in question, with the half-spaces that decide them."""
_Box = tuple[tuple[int, int], ...]
"""First and last cell, by axis."""


class Part:
    """The points of one combination of families: `first` is the lower corner of its first cell in scan order; `sets`,
    made on demand, are disjoint."""

    def __init__(self, first: tuple[int, ...], make: Callable[[], list[ConvexSet]]) -> None:
        self.first = first
        self._make = make

    @cached_property
    def sets(self) -> list[ConvexSet]:
        return self._make()


def partition(families: Sequence[Sequence[ConvexSet]]) -> dict[int, Part]:
    """The parts of the union of all families, by which of them hold: bit f of a key is set where a set of `families[f]`
    does.

    Parts ascend by first cell in scan order, then by key.
    """
    boxes = [s for family in families for s in family]
    if not boxes:
        return {}
    grid = _Grid(boxes)
    mixed: _Mixed = {}
    layers = [np.zeros(grid.shape, dtype=np.int64) for _ in range(0, len(families), _WORD)]
    for f, family in enumerate(families):
        for s in family:
            grid.mark(layers[f // _WORD], s, f % _WORD, f, mixed)
    return _collect(grid, layers, mixed)


def count(sets: Sequence[ConvexSet]) -> int:
    """The cells that `partition` cuts the hull of `sets` into."""
    return prod(_Grid(sets).shape)


def union(domain: Iterable[ConvexSet]) -> Domain:
    """The same points as few disjoint sets, ascending."""
    sets = tuple(dict.fromkeys(domain))
    if len(sets) < 2:
        return sets
    parts = (s for part in partition([sets]).values() for s in part.sets)
    return tuple(sorted(parts, key=scan_order))


_WORD = 62
"""Families that share one word per cell."""


class _Grid:
    """The cells that the bounds of `sets` cut out of their hull, along the digits `axes` where there is more than one:
    on axis k from `starts[k][i]` to `starts[k][i + 1] - 1`."""

    def __init__(self, sets: Sequence[ConvexSet]) -> None:
        low, high = list(zip(*(s.lower for s in sets), strict=True)), list(zip(*(s.upper for s in sets), strict=True))
        cuts = [sorted({*a, *(x + 1 for x in set(b))}) for a, b in zip(low, high, strict=True)]
        self.hull = tuple(c[0] for c in cuts), tuple(c[-1] - 1 for c in cuts)
        self.axes = [g for g, c in enumerate(cuts) if len(c) > 2] or [0]
        self.starts = [cuts[g] for g in self.axes]
        self.index = [(g, {x: i for i, x in enumerate(cuts[g])}) for g in self.axes]
        self.shape = tuple(len(c) - 1 for c in self.starts)

    def slices(self, s: ConvexSet) -> tuple[slice, ...]:
        return tuple([slice(i[s.lower[g]], i[s.upper[g] + 1]) for g, i in self.index])

    def box(self, cells: _Box) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Bounds of the cells from the first to the last on every axis, both inclusive."""
        lower, upper = list(self.hull[0]), list(self.hull[1])
        for g, starts, (first, last) in zip(self.axes, self.starts, cells, strict=True):
            lower[g], upper[g] = starts[first], starts[last + 1] - 1
        return tuple(lower), tuple(upper)

    def range(self, h: HalfSpace, where: tuple[slice, ...]) -> tuple[NDArray[np.object_], NDArray[np.object_]]:
        """Smallest and largest value of `h` in every cell of `where`; Python integers, which do not overflow."""
        n = len(self.axes)
        fixed = [
            (a, x, y) for g, (a, x, y) in enumerate(zip(h.coefficients, *self.hull, strict=True)) if g not in self.axes
        ]
        least = np.full((1,) * n, h.constant + sum(min(a * x, a * y) for a, x, y in fixed), dtype=object)
        most = np.full((1,) * n, h.constant + sum(max(a * x, a * y) for a, x, y in fixed), dtype=object)
        for k, (g, starts) in enumerate(zip(self.axes, self.starts, strict=True)):
            a = h.coefficients[g]
            ends = [(a * starts[i], a * (starts[i + 1] - 1)) for i in range(where[k].start, where[k].stop)]
            axis = tuple(-1 if k == j else 1 for j in range(n))
            least = least + np.array([min(e) for e in ends], dtype=object).reshape(axis)
            most = most + np.array([max(e) for e in ends], dtype=object).reshape(axis)
        return least, most

    def mark(self, bits: NDArray[np.int64], s: ConvexSet, bit: int, family: int, mixed: _Mixed) -> None:
        """Set `bit` where `s` holds; cells that a half-space cuts go to `mixed`, with the half-spaces that cut them."""
        where = self.slices(s)
        if not s.half_spaces:
            bits[where] |= 1 << bit
            return
        some = np.ones(bits[where].shape, dtype=np.bool_)
        cutting: list[NDArray[np.bool_]] = []
        for h in s.half_spaces:
            least, most = self.range(h, where)
            some = some & (most >= 0).astype(np.bool_)
            cutting.append(np.broadcast_to((least < 0).astype(np.bool_), some.shape))
        cut = some & reduce(np.logical_or, cutting)
        bits[where] |= (some & ~cut).astype(np.int64) << bit
        for cell in np.argwhere(cut):
            at = tuple(int(i) for i in cell)
            key = tuple(i + w.start for i, w in zip(at, where, strict=True))
            mixed.setdefault(key, []).append(
                (family, tuple(h for h, c in zip(s.half_spaces, cutting, strict=True) if c[at]))
            )


def _collect(grid: _Grid, layers: Sequence[NDArray[np.int64]], mixed: _Mixed) -> dict[int, Part]:
    def key_of(cell: tuple[int, ...]) -> int:
        return sum(int(layer[cell]) << i * _WORD for i, layer in enumerate(layers))

    ids = layers[0].copy() if len(layers) == 1 else _numbers(layers)
    pieces: dict[int, dict[tuple[HalfSpace, ...], list[tuple[int, ...]]]] = {}
    for cell in sorted(mixed):
        whole = convex_set(*grid.box(tuple((i, i) for i in cell)))
        assert whole is not None
        for key, spaces in _split(whole, key_of(cell), mixed[cell], ()):
            pieces.setdefault(key, {}).setdefault(spaces, []).append(cell)
        ids[cell] = -1
    numbers, first = np.unique(ids.ravel(order="F"), return_index=True)
    cells = zip(*(i.tolist() for i in np.unravel_index(first, grid.shape, order="F")), strict=True)
    whole_at = {key_of(cell): (n, cell) for n, cell in zip(numbers.tolist(), cells, strict=True) if n >= 0}
    parts: list[tuple[tuple[int, ...], int, Part]] = []
    for key in {**whole_at, **pieces}:
        if key:
            number, *found = whole_at.get(key, (-2,))
            found += [c for group in pieces.get(key, {}).values() for c in group]
            least = min(c[::-1] for c in found)
            corner = grid.box(tuple((i, i) for i in least[::-1]))[0]
            parts.append((least, key, Part(corner, partial(_sets, grid, ids, number, pieces.get(key, {})))))
    return {key: part for _, key, part in sorted(parts, key=lambda p: p[:2])}


def _numbers(layers: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
    """By cell a number, equal where all layers are."""
    lines = np.stack([layer.ravel() for layer in layers])
    return np.unique(lines, axis=1, return_inverse=True)[1].reshape(layers[0].shape).astype(np.int64)


def _sets(
    grid: _Grid, ids: NDArray[np.int64], number: int, pieces: dict[tuple[HalfSpace, ...], list[tuple[int, ...]]]
) -> list[ConvexSet]:
    found: list[ConvexSet] = []
    for spaces, cells in pieces.items():
        mask = np.zeros(grid.shape, dtype=np.bool_)
        mask[tuple(np.array(cells).T)] = True
        found += [s for box in _cover(mask) if (s := convex_set(*grid.box(box), spaces)) is not None]
    if number >= 0:
        found += [ConvexSet(*grid.box(box)) for box in _cover(ids == number)]
    return found


def _split(s: ConvexSet, key: int, pending: Sequence[_Cut], spaces: tuple[HalfSpace, ...]) -> Iterator[_Cut]:
    """The combinations of families within one cell, with the half-spaces that tell them apart."""
    for family, uncut in pending:
        if not uncut:
            key |= 1 << family
    pending = [(f, uncut) for f, uncut in pending if uncut and not key >> f & 1]
    if not pending:
        yield key, spaces
        return
    h = pending[0][1][0]
    inside, outside = (
        convex_set(s.lower, s.upper, (*s.half_spaces, h)),
        convex_set(s.lower, s.upper, (*s.half_spaces, negated(h))),
    )
    if inside is not None:
        yield from _split(inside, key, [(f, tuple(x for x in u if x != h)) for f, u in pending], (*spaces, h))
    if outside is not None:
        yield from _split(outside, key, [(f, u) for f, u in pending if h not in u], (*spaces, negated(h)))


def _cover(mask: NDArray[np.bool_]) -> list[_Box]:
    """Few disjoint boxes of cells that make up `mask`: cut into equal slabs, outermost or innermost digit first,
    whichever is fewer. The result depends on the points only, not on the cells that they were cut into."""
    outer = _slabs(mask.tobytes("F"), mask.shape[::-1])
    inner = _slabs(mask.tobytes(), mask.shape) if len(outer) > 3 else outer
    return list(inner) if len(inner) < len(outer) else [box[::-1] for box in outer]


@lru_cache(maxsize=1 << 12)
def _slabs(cells: bytes, shape: tuple[int, ...]) -> tuple[_Box, ...]:
    """Boxes as (first, last) by axis: runs of equal slabs along the first axis, each cut likewise. `cells` are 0 or 1,
    row-major."""
    if b"\0" not in cells:
        return (tuple((0, n - 1) for n in shape),)
    if b"\1" not in cells:
        return ()
    size = len(cells) // shape[0]
    found: list[_Box] = []
    start = 0
    for end in range(1, shape[0] + 1):
        slab = cells[start * size : (start + 1) * size]
        if end == shape[0] or cells[end * size : (end + 1) * size] != slab:
            found += [((start, end - 1), *box) for box in _slabs(slab, shape[1:])]
            start = end
    return tuple(found)
