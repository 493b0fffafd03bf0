# SPDX-License-Identifier: Apache-2.0
"""Sets of iterations at run time: unions of (box and half-spaces) on the digits of a scan.

A tile's iterations are numbered in scan order; the digits of that number in mixed radix, innermost first, are the
coordinates here. Sets are `ConvexSet` values in normal form (`convex`): the box is tight, half-spaces are primitive, none
is implied. Nothing here enumerates iterations but `steps_in`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from math import prod

import numpy as np
from numpy.typing import NDArray

from polyloom.targets.tcpa import omega
from polyloom.targets.tcpa.concrete import ConvexSet, HalfSpace


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
    return omega.normal_form(tuple(low), tuple(high), tuple(dict.fromkeys(slanted))) if slanted else ConvexSet(tuple(low), tuple(high))


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
