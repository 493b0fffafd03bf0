# SPDX-License-Identifier: Apache-2.0
"""Iteration sets at run time: unions of (box and half-spaces) on the digits of a scan.

A tile's iterations are numbered in scan order; the digits of that number in mixed radix, innermost first, are the
coordinates here. Sets are `ConvexSet` values in normal form (`convex_set`): the box is tight, half-spaces are
primitive, none is implied (Pugh 1991).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import product

from polyloom.targets.tcpa.run import omega_test
from polyloom.targets.tcpa.words.concrete import ConvexSet, HalfSpace


def convex_set(lower: Sequence[int], upper: Sequence[int], half_spaces: Iterable[HalfSpace] = ()) -> ConvexSet | None:
    """Normal form of a box intersected with half-spaces, or None where it has no integer point.

    Half-spaces may come with any number of nonzero coefficients and any common factor. Equal sets that differ only in
    implied constraints have one form.
    """
    low, high = list(lower), list(upper)
    slanted: list[HalfSpace] = []
    for h in half_spaces:
        # One nonzero coefficient is a bound of the box; none is a constant, which is true or false.
        used = [g for g, a in enumerate(h.coefficients) if a]
        if len(used) > 1:
            slanted.append(h)
        elif used:
            (g,), a = used, h.coefficients[used[0]]
            if a > 0:
                # a x + b >= 0 with a > 0: x >= -b / a, rounded up, which is -(b // a).
                low[g] = max(low[g], -(h.constant // a))
            else:
                high[g] = min(high[g], h.constant // -a)
        elif h.constant < 0:
            return None
    if any(a > b for a, b in zip(low, high, strict=True)):
        return None
    return (
        omega_test.normal_form(tuple(low), tuple(high), tuple(dict.fromkeys(slanted)))
        if slanted
        else ConvexSet(tuple(low), tuple(high))
    )


def intersect(a: ConvexSet, b: ConvexSet) -> ConvexSet | None:
    """The common points of two sets in normal form."""
    return convex_set(
        [max(x, y) for x, y in zip(a.lower, b.lower, strict=True)],
        [min(x, y) for x, y in zip(a.upper, b.upper, strict=True)],
        a.half_spaces + b.half_spaces,
    )


def contains(domain: Iterable[ConvexSet], point: Sequence[int]) -> bool:
    """Membership of a point in a union of sets."""
    return any(
        all(a <= x <= b for a, x, b in zip(s.lower, point, s.upper, strict=True))
        and all(sum(a * x for a, x in zip(h.coefficients, point, strict=True)) + h.constant >= 0 for h in s.half_spaces)
        for s in domain
    )


def intersects(a: Sequence[ConvexSet], b: Sequence[ConvexSet]) -> bool:
    """Intersection test: whether two unions have a point in common."""
    return any(
        all(l1 <= u2 and l2 <= u1 for l1, u1, l2, u2 in zip(s.lower, s.upper, t.lower, t.upper, strict=True))
        # Boxes that overlap have a common point; half-spaces need the exact test.
        and (not (s.half_spaces or t.half_spaces) or intersect(s, t) is not None)
        for s, t in product(a, b)
    )


def linearize_digits(digits: Sequence[int], extents: Sequence[int]) -> int:
    """Mixed-radix number: the step of the scan with these digits."""
    step, weight = 0, 1
    for digit, extent in zip(digits, extents, strict=True):
        step += digit * weight
        weight *= extent
    return step


def mixed_radix_digits(step: int, extents: Sequence[int]) -> tuple[int, ...]:
    """Mixed-radix digits of a step; the outermost one is not reduced."""
    digits: list[int] = []
    for extent in extents[:-1]:
        step, digit = divmod(step, extent)
        digits.append(digit)
    return (*digits, step)


def list_successors(last: Sequence[int], lower: Sequence[int], upper: Sequence[int]) -> Iterator[ConvexSet]:
    """Lexicographic successors: the digits within [lower, upper] that follow `last` in scan order, as boxes."""
    # Lexicographic order, outermost digit last in the tuple: equal in all digits outside of g, greater in g, anything
    # inside.
    for g in reversed(range(len(last))):
        low = (*lower[:g], last[g] + 1, *last[g + 1 :])
        high = (*upper[: g + 1], *last[g + 1 :])
        if all(a <= b for a, b in zip(low, high, strict=True)):
            yield ConvexSet(low, high)


def scan_order(s: ConvexSet) -> tuple[object, ...]:
    """The key that sorts disjoint sets as a `Domain` lists them: by first corner in scan order."""
    # The outermost digit decides first.
    return s.lower[::-1], s.upper[::-1], tuple((h.coefficients, h.constant) for h in s.half_spaces)
