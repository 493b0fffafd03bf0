# SPDX-License-Identifier: Apache-2.0
"""What instantiation asks of sets of iterations beyond `digits`: steps of the scan later, hulls, windows of steps."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import prod

import numpy as np
from numpy.typing import NDArray

from polyloom.targets.tcpa.run.scan_sets import convex_set
from polyloom.targets.tcpa.words.concrete import ConvexSet, HalfSpace


def negated(space: HalfSpace) -> HalfSpace:
    """The integer points outside of `space`."""
    return HalfSpace(tuple(-a for a in space.coefficients), -space.constant - 1)


def shift(domain: Iterable[ConvexSet], steps: int, extents: Sequence[int]) -> Iterator[ConvexSet]:
    """The iterations `steps` steps of the scan after (before, if negative) those of `domain` (paper section 6.1, succ).

    Exact for any distance: one set a pattern of carries. The outermost digit has no carry, so that it runs past its
    extent in the epilogue; iterations before the first one are left out.
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
            ranges = (
                ((max(first, -add), last, 0),)
                if g == outermost
                else ((first, min(last, wraps - 1), 0), (max(first, wraps), last, 1))
            )
            for a, b, wrap in ranges:
                if a <= b:
                    move = add - wrap * extent
                    grown.append(((*low, a + move), (*high, b + move), (*moves, move), wrap))
        states = grown
    for low, high, moves, _ in states:
        lower, upper = (*low, *s.lower[len(low) :]), (*high, *s.upper[len(high) :])
        spaces = [
            HalfSpace(h.coefficients, h.constant - sum(a * x for a, x in zip(h.coefficients, moves, strict=False)))
            for h in s.half_spaces
        ]
        shifted = convex_set(lower, upper, spaces) if spaces else ConvexSet(lower, upper)
        if shifted is not None:
            yield shifted


def hull(domain: Sequence[ConvexSet]) -> ConvexSet:
    """The smallest box around a nonempty union."""
    return ConvexSet(
        tuple(map(min, zip(*(s.lower for s in domain), strict=True))),
        tuple(map(max, zip(*(s.upper for s in domain), strict=True))),
    )


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


def window(s: ConvexSet, steps: int, extents: Sequence[int]) -> int:
    """The greatest number of iterations of the box `s` in any `steps` consecutive steps of the scan (half-spaces
    ignored).

    By digit, outermost first: a digit's iterations are e equal blocks in a row, out of E. A window of q blocks and r
    steps meets q whole blocks and, cyclically, r steps of one, unless the row is too short for that.
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
