# SPDX-License-Identifier: Apache-2.0
"""Sets of iterations at run time: unions of (box and half-spaces) on the digits of a scan.

A tile's iterations are numbered in scan order; the digits of that number in mixed radix, innermost first, are the
coordinates here. Sets are `ConvexSet` values in normal form (`convex`): the box is tight, half-spaces are primitive, none
is implied. Nothing here enumerates iterations: cells come from the boxes' bounds, and emptiness of a box with half-spaces
is decided by Fourier-Motzkin elimination with Pugh's exact and dark shadows (the Omega test).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property, lru_cache, partial, reduce
from itertools import product
from math import gcd, prod

import numpy as np
from numpy.typing import NDArray

from polyloom.targets.tcpa.concrete import ConvexSet, Domain, HalfSpace

_Row = tuple[tuple[int, ...], int]
_Cut = tuple[int, tuple[HalfSpace, ...]]
_Mixed = dict[tuple[int, ...], list[_Cut]]
"""Cells that half-spaces cut: the families in question, with the half-spaces that decide them."""
_Box = tuple[tuple[int, int], ...]
"""First and last cell, by axis."""


def convex(lower: Sequence[int], upper: Sequence[int], half_spaces: Iterable[HalfSpace] = ()) -> ConvexSet | None:
    """The normal form of a box intersected with half-spaces, or None where it has no integer point.

    Half-spaces may come with any number of nonzero coefficients and any common factor. Equal sets that differ only in implied
    constraints have one form.
    """
    low, high = list(lower), list(upper)
    slanted: list[HalfSpace] = []
    for h in half_spaces:
        used = [g for g, a in enumerate(h.coefficients) if a]
        if len(used) > 1:
            slanted.append(h)
        elif used:
            (g,), a = used, h.coefficients[used[0]]
            if a > 0:
                low[g] = max(low[g], -(h.constant // a))
            else:
                high[g] = min(high[g], h.constant // -a)
        elif h.constant < 0:
            return None
    if any(a > b for a, b in zip(low, high, strict=True)):
        return None
    return _with_half_spaces(tuple(low), tuple(high), tuple(dict.fromkeys(slanted))) if slanted else ConvexSet(tuple(low), tuple(high))


def intersect(a: ConvexSet, b: ConvexSet) -> ConvexSet | None:
    """The common points of two sets in normal form."""
    return convex(
        [max(x, y) for x, y in zip(a.lower, b.lower, strict=True)],
        [min(x, y) for x, y in zip(a.upper, b.upper, strict=True)],
        a.half_spaces + b.half_spaces,
    )


def negated(space: HalfSpace) -> HalfSpace:
    """The integer points outside of `space`."""
    return HalfSpace(tuple(-a for a in space.coefficients), -space.constant - 1)


def contains(domain: Iterable[ConvexSet], point: Sequence[int]) -> bool:
    return any(
        all(a <= x <= b for a, x, b in zip(s.lower, point, s.upper, strict=True))
        and all(sum(a * x for a, x in zip(h.coefficients, point, strict=True)) + h.constant >= 0 for h in s.half_spaces)
        for s in domain
    )


def shift(domain: Iterable[ConvexSet], steps: int, extents: Sequence[int]) -> Iterator[ConvexSet]:
    """The iterations `steps` steps of the scan after (before, if negative) those of `domain` (paper section 6.1, succ).

    Exact for any distance: one set a pattern of carries. The outermost digit has no carry, so that it runs past its extent in
    the epilogue; iterations before the first one are left out.
    """
    if steps == 0:
        yield from domain
        return
    addend: list[int] = []
    for extent in extents[:-1]:
        steps, digit = divmod(steps, extent)
        addend.append(digit)
    addend.append(steps)
    for s in domain:
        yield from _carries(s, addend, extents)


class Part:
    """The points of one combination of families: `first` is the lower corner of its first cell in scan order; `sets`, made on
    demand, are disjoint."""

    def __init__(self, first: tuple[int, ...], make: Callable[[], list[ConvexSet]]) -> None:
        self.first = first
        self._make = make

    @cached_property
    def sets(self) -> list[ConvexSet]:
        return self._make()


def partition(families: Sequence[Sequence[ConvexSet]]) -> dict[int, Part]:
    """The parts of the union of all families, by which of them hold: bit f of a key is set where a set of `families[f]` does.

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


def union(domain: Iterable[ConvexSet]) -> Domain:
    """The same points as few disjoint sets, ascending."""
    sets = tuple(dict.fromkeys(domain))
    if len(sets) < 2:
        return sets
    parts = (s for part in partition([sets]).values() for s in part.sets)
    return tuple(sorted(parts, key=scan_order))


def meets(a: Sequence[ConvexSet], b: Sequence[ConvexSet]) -> bool:
    """Whether two unions have a point in common."""
    return any(
        all(l1 <= u2 and l2 <= u1 for l1, u1, l2, u2 in zip(s.lower, s.upper, t.lower, t.upper, strict=True))
        and (not (s.half_spaces or t.half_spaces) or intersect(s, t) is not None)
        for s, t in product(a, b)
    )


def hull(domain: Sequence[ConvexSet]) -> ConvexSet:
    """The smallest box around a nonempty union."""
    return ConvexSet(tuple(map(min, zip(*(s.lower for s in domain), strict=True))), tuple(map(max, zip(*(s.upper for s in domain), strict=True))))


def number(digits: Sequence[int], extents: Sequence[int]) -> int:
    """The step of the scan with these digits."""
    step, weight = 0, 1
    for digit, extent in zip(digits, extents, strict=True):
        step += digit * weight
        weight *= extent
    return step


def digits_of(step: int, extents: Sequence[int]) -> tuple[int, ...]:
    """The digits of a step; the outermost one is not reduced."""
    digits: list[int] = []
    for extent in extents[:-1]:
        step, digit = divmod(step, extent)
        digits.append(digit)
    return (*digits, step)


def steps_in(domain: Iterable[ConvexSet], extents: Sequence[int]) -> NDArray[np.int64]:
    """The steps of a domain, ascending, one by one: for scans that are short."""
    mask = np.zeros(tuple(extents[::-1]), dtype=np.bool_)
    for s in domain:
        inside = np.ones((1,) * len(extents), dtype=np.bool_)
        for h in s.half_spaces:
            value = np.full((1,) * len(extents), h.constant, dtype=np.int64)
            for g, (a, low, high) in enumerate(zip(h.coefficients, s.lower, s.upper, strict=True)):
                axis = tuple(-1 if k == len(extents) - 1 - g else 1 for k in range(len(extents)))
                value = value + (a * np.arange(low, high + 1, dtype=np.int64)).reshape(axis)
            inside = inside & (value >= 0)
        mask[tuple(slice(a, b + 1) for a, b in zip(s.lower[::-1], s.upper[::-1], strict=True))] |= inside
    return np.flatnonzero(mask)


def after(last: Sequence[int], lower: Sequence[int], upper: Sequence[int]) -> Iterator[ConvexSet]:
    """The digits within [lower, upper] that follow `last` in scan order."""
    for g in reversed(range(len(last))):
        low = (*lower[:g], last[g] + 1, *last[g + 1 :])
        high = (*upper[: g + 1], *last[g + 1 :])
        if all(a <= b for a, b in zip(low, high, strict=True)):
            yield ConvexSet(low, high)


def scan_order(s: ConvexSet) -> tuple[object, ...]:
    """The key that sorts disjoint sets as a `Domain` lists them: by first corner in scan order."""
    return s.lower[::-1], s.upper[::-1], tuple((h.coefficients, h.constant) for h in s.half_spaces)


def _carries(s: ConvexSet, addend: Sequence[int], extents: Sequence[int]) -> Iterator[ConvexSet]:
    outermost = len(addend) - 1
    busy = max(g for g, add in enumerate(addend) if add)
    states: list[tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...], int]] = [((), (), (), 0)]
    for g, (extent, first, last) in enumerate(zip(extents, s.lower, s.upper, strict=True)):
        grown: list[tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...], int]] = []
        for low, high, moves, carry in states:
            if g > busy and not carry:  # this digit and those that follow stay
                grown.append((low, high, moves, 0))
                continue
            add = addend[g] + carry
            wraps = extent - add
            ranges = ((max(first, -add), last, 0),) if g == outermost else ((first, min(last, wraps - 1), 0), (max(first, wraps), last, 1))
            for a, b, wrap in ranges:
                if a <= b:
                    move = add - wrap * extent
                    grown.append(((*low, a + move), (*high, b + move), (*moves, move), wrap))
        states = grown
    for low, high, moves, _ in states:
        lower, upper = (*low, *s.lower[len(low) :]), (*high, *s.upper[len(high) :])
        spaces = [HalfSpace(h.coefficients, h.constant - sum(a * x for a, x in zip(h.coefficients, moves, strict=False))) for h in s.half_spaces]
        shifted = convex(lower, upper, spaces) if spaces else ConvexSet(lower, upper)
        if shifted is not None:
            yield shifted


# Cells between the bounds of all boxes.

_WORD = 62
"""Families that share one word a cell."""


class _Grid:
    """The cells that the bounds of `sets` cut out of their hull, along the digits `axes` where there is more than one: on axis
    k from `starts[k][i]` to `starts[k][i + 1] - 1`."""

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
        fixed = [(a, x, y) for g, (a, x, y) in enumerate(zip(h.coefficients, *self.hull, strict=True)) if g not in self.axes]
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
            mixed.setdefault(key, []).append((family, tuple(h for h, c in zip(s.half_spaces, cutting, strict=True) if c[at])))


def _collect(grid: _Grid, layers: Sequence[NDArray[np.int64]], mixed: _Mixed) -> dict[int, Part]:
    def key_of(cell: tuple[int, ...]) -> int:
        return sum(int(layer[cell]) << i * _WORD for i, layer in enumerate(layers))

    ids = layers[0].copy() if len(layers) == 1 else _numbers(layers)
    pieces: dict[int, dict[tuple[HalfSpace, ...], list[tuple[int, ...]]]] = {}
    for cell in sorted(mixed):
        whole = convex(*grid.box(tuple((i, i) for i in cell)))
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


def _sets(grid: _Grid, ids: NDArray[np.int64], number: int, pieces: dict[tuple[HalfSpace, ...], list[tuple[int, ...]]]) -> list[ConvexSet]:
    found: list[ConvexSet] = []
    for spaces, cells in pieces.items():
        mask = np.zeros(grid.shape, dtype=np.bool_)
        mask[tuple(np.array(cells).T)] = True
        found += [s for box in _cover(mask) if (s := convex(*grid.box(box), spaces)) is not None]
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
    inside, outside = convex(s.lower, s.upper, (*s.half_spaces, h)), convex(s.lower, s.upper, (*s.half_spaces, negated(h)))
    if inside is not None:
        yield from _split(inside, key, [(f, tuple(x for x in u if x != h)) for f, u in pending], (*spaces, h))
    if outside is not None:
        yield from _split(outside, key, [(f, u) for f, u in pending if h not in u], (*spaces, negated(h)))


def _cover(mask: NDArray[np.bool_]) -> list[_Box]:
    """Few disjoint boxes of cells that make up `mask`: cut into equal slabs, outermost or innermost digit first, whichever is
    fewer. The result depends on the points only, not on the cells that they were cut into."""
    outer = _slabs(mask.tobytes("F"), mask.shape[::-1])
    inner = _slabs(mask.tobytes(), mask.shape) if len(outer) > 3 else outer
    return list(inner) if len(inner) < len(outer) else [box[::-1] for box in outer]


@lru_cache(maxsize=1 << 12)
def _slabs(cells: bytes, shape: tuple[int, ...]) -> tuple[_Box, ...]:
    """Boxes as (first, last) by axis: runs of equal slabs along the first axis, each cut likewise. `cells` are 0 or 1, row-major."""
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


# Boxes with half-spaces.


@lru_cache(maxsize=1 << 14)
def _with_half_spaces(low: tuple[int, ...], high: tuple[int, ...], spaces: tuple[HalfSpace, ...]) -> ConvexSet | None:
    lower, upper, rows = list(low), list(high), {h.coefficients: h.constant for h in spaces}
    for h in spaces:
        rows[h.coefficients] = min(rows[h.coefficients], h.constant)
    settled = False
    for _ in range(4):  # propagation may go on for as long as the box is wide; the exact tests below finish the work
        before = (lower[:], upper[:])
        reduced: dict[tuple[int, ...], int] = {}
        for coefficients, constant in rows.items():
            row = _propagate(coefficients, constant, lower, upper)
            if any(a > b for a, b in zip(lower, upper, strict=True)):
                return None
            if row is not None:
                reduced[row[0]] = min(reduced.get(row[0], row[1]), row[1])
        settled = (lower, upper) == before and len(rows) == len(reduced)
        rows = reduced
        if settled:
            break
    if len(rows) > 1 or not settled:
        if not _feasible(lower, upper, list(rows.items())):
            return None
        rows = _tighten(lower, upper, rows)
    return ConvexSet(tuple(lower), tuple(upper), tuple(HalfSpace(c, k) for c, k in sorted(rows.items())))


def _least(coefficients: Sequence[int], constant: int, lower: Sequence[int], upper: Sequence[int]) -> int:
    return constant + sum(min(a * x, a * y) for a, x, y in zip(coefficients, lower, upper, strict=True))


def _most(coefficients: Sequence[int], constant: int, lower: Sequence[int], upper: Sequence[int]) -> int:
    return constant + sum(max(a * x, a * y) for a, x, y in zip(coefficients, lower, upper, strict=True))


def _propagate(coefficients: tuple[int, ...], constant: int, lower: list[int], upper: list[int]) -> _Row | None:
    """Tighten the box by one row (empty it if no point satisfies the row); the row in lowest terms without fixed digits, or
    None where the box implies it."""
    if _least(coefficients, constant, lower, upper) >= 0:
        return None
    most = _most(coefficients, constant, lower, upper)
    if most < 0:
        lower[0] = upper[0] + 1
        return None
    for g, a in enumerate(coefficients):
        if a > 0:
            lower[g] = max(lower[g], -((most - a * upper[g]) // a))
        elif a < 0:
            upper[g] = min(upper[g], (most - a * lower[g]) // -a)
    if _least(coefficients, constant, lower, upper) >= 0:
        return None
    free = tuple(0 if x == y else a for a, x, y in zip(coefficients, lower, upper, strict=True))
    constant += sum(a * x for a, x, y in zip(coefficients, lower, upper, strict=True) if x == y)
    divisor = gcd(*free)
    return tuple(a // divisor for a in free), constant // divisor


def _tighten(lower: list[int], upper: list[int], rows: dict[tuple[int, ...], int]) -> dict[tuple[int, ...], int]:
    """Make the box of a nonempty set tight in place, and drop the rows that the others imply."""
    for g in range(len(lower)):
        if any(c[g] for c in rows):
            items = list(rows.items())
            lower[g] = _bound(lower, upper, items, g, low=True)
            upper[g] = _bound(lower, upper, items, g, low=False)
    kept: dict[tuple[int, ...], int] = {}
    for c, k in rows.items():
        row = _propagate(c, k, lower, upper)
        if row is not None:
            kept[row[0]] = min(kept.get(row[0], row[1]), row[1])
    for c in sorted(kept):
        others = [(d, k) for d, k in kept.items() if d != c]
        if not _feasible(lower, upper, [*others, (tuple(-a for a in c), -kept[c] - 1)]):
            del kept[c]
    return kept


def _bound(lower: list[int], upper: list[int], rows: list[_Row], g: int, *, low: bool) -> int:
    """The least (greatest) value of digit g, by bisection over exact feasibility tests."""
    first, last = lower[g], upper[g]

    def reaches(a: int, b: int) -> bool:
        return _feasible([*lower[:g], a, *lower[g + 1 :]], [*upper[:g], b, *upper[g + 1 :]], rows)

    if reaches(first, first) if low else reaches(last, last):
        return first if low else last
    while first < last:
        middle = (first + last) // 2
        if low:
            first, last = (first, middle) if reaches(first, middle) else (middle + 1, last)
        else:
            first, last = (middle + 1, last) if reaches(middle + 1, last) else (first, middle)
    return first


def _feasible(lower: Sequence[int], upper: Sequence[int], rows: Sequence[_Row]) -> bool:
    """Whether a box has an integer point in all half-spaces `rows`. Exact."""
    active = [r for r in rows if _least(*r, lower, upper) < 0]
    if any(_most(*r, lower, upper) < 0 for r in active):
        return False
    if len(active) < 2:
        return True
    used = [g for g in range(len(lower)) if any(c[g] for c, _ in active)]
    if all(lower[g] == upper[g] for g in used):
        return True
    system = [(tuple(c[g] for g in used), k + sum(c[g] * lower[g] for g in range(len(lower)) if g not in used)) for c, k in active]
    for i, g in enumerate(used):
        unit = tuple(int(i == k) for k in range(len(used)))
        system += [(unit, -lower[g]), (tuple(-a for a in unit), upper[g])]
    verdict = _shadows(system)
    if verdict is not None:
        return verdict
    g = max(used, key=lambda g: upper[g] - lower[g])
    middle = (lower[g] + upper[g]) // 2
    left = _feasible(lower, [*upper[:g], middle, *upper[g + 1 :]], rows)
    return left or _feasible([*lower[:g], middle + 1, *lower[g + 1 :]], upper, rows)


def _shadows(system: list[_Row]) -> bool | None:
    """Omega test: False if the real shadow is empty, True if it is exact or the dark shadow is not empty, else None."""
    real, exact = _eliminate_all(system, dark=False)
    if not real:
        return False
    if exact:
        return True
    return True if _eliminate_all(system, dark=True)[0] else None


def _eliminate_all(system: list[_Row], *, dark: bool) -> tuple[bool, bool]:
    """(whether the shadow is nonempty, whether every elimination was exact)."""
    rows, exact = _normal(system), True
    while rows:
        n = len(rows[0][0])
        if n == 0:
            break
        g = min(range(n), key=lambda g: (_inexact(rows, g), sum(c[g] > 0 for c, _ in rows) * sum(c[g] < 0 for c, _ in rows)))
        exact = exact and not _inexact(rows, g)
        above, below = [r for r in rows if r[0][g] > 0], [r for r in rows if r[0][g] < 0]
        rows = _normal([_drop(r, g) for r in rows if not r[0][g]] + [_drop(_combine(a, b, g, dark=dark), g) for a in above for b in below])
        if any(not any(c) and k < 0 for c, k in rows):
            return False, exact
    return all(k >= 0 for c, k in rows if not any(c)), exact


def _inexact(rows: Sequence[_Row], g: int) -> bool:
    return any(c[g] > 1 for c, _ in rows) and any(c[g] < -1 for c, _ in rows)


def _drop(row: _Row, g: int) -> _Row:
    return row[0][:g] + row[0][g + 1 :], row[1]


def _combine(above: _Row, below: _Row, g: int, *, dark: bool) -> _Row:
    a, b = above[0][g], -below[0][g]
    slack = (a - 1) * (b - 1) if dark else 0
    return tuple(b * x + a * y for x, y in zip(above[0], below[0], strict=True)), b * above[1] + a * below[1] - slack


def _normal(rows: Iterable[_Row]) -> list[_Row]:
    least: dict[tuple[int, ...], int] = {}
    for c, k in rows:
        divisor = gcd(*c) or 1
        key, constant = tuple(a // divisor for a in c), k // divisor
        least[key] = min(least.get(key, constant), constant)
    return list(least.items())


# Windows.


def window(s: ConvexSet, steps: int, extents: Sequence[int]) -> int:
    """The greatest number of iterations of the box `s` in any `steps` consecutive steps of the scan (half-spaces ignored).

    By digit, outermost first: a digit's iterations are e equal blocks in a row, out of E. A window of q blocks and r steps
    meets q whole blocks and, cyclically, r steps of one, unless the row is too short for that.
    """
    sizes = [b - a + 1 for a, b in zip(s.lower, s.upper, strict=True)]
    blocks = [prod(extents[:g]) for g in range(len(extents))]
    counts = [prod(sizes[:g]) for g in range(len(sizes) + 1)]

    def linear(g: int, w: int) -> int:
        if g < 0:
            return min(w, 1)
        q, r = divmod(w, blocks[g])
        if sizes[g] <= q:
            return counts[g + 1]
        return q * counts[g] + (linear(g - 1, r) if sizes[g] == q + 1 else cyclic(g - 1, r))

    def cyclic(g: int, w: int) -> int:
        if g < 0:
            return min(w, 1)
        gap = (extents[g] - sizes[g]) * blocks[g]
        q, r = divmod(max(w - gap, 0), blocks[g])
        wrapped = counts[g + 1] if q >= sizes[g] else q * counts[g] + cyclic(g - 1, r)
        return max(linear(g, w), wrapped)

    return linear(len(sizes) - 1, steps)
