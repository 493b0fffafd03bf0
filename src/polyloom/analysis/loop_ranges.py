# SPDX-License-Identifier: Apache-2.0
"""Value ranges of loops and affine forms: interval analysis from the outermost loop inwards, which may be too wide;
and trip counts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from polyloom.ir.nest import Loop, Node, loop_nodes
from polyloom.sets import Affine

Range = tuple[int, int]
"""Least and greatest value; the greatest is less where there is none."""


def loop_ranges(nodes: Iterable[Node]) -> dict[str, Range]:
    """Intervals of the variables of loops (Moore, "Interval Analysis", 1966), from the outermost inwards."""
    found: dict[str, Range] = {}
    for loop in loop_nodes(nodes):
        low = max(form_range(end, found)[0] for end in loop.lower)
        found[loop.name] = low, min(form_range(end, found)[1] for end in loop.upper) - 1
    return found


def form_range(form: Affine, known: Mapping[str, Range]) -> Range:
    """Interval of an affine form whose symbols all are known: ends by the signs of coefficients."""
    ends = [sorted(factor * end for end in known[name]) for name, factor in form.terms]
    return form.constant + sum(low for low, _ in ends), form.constant + sum(high for _, high in ends)


def trip_count(loop: Loop, known: Mapping[str, Range]) -> float:
    """About how many iterations the loop has each time: bounds that depend on other loops count at their middle."""
    lower = max(_middle(end, known) for end in loop.lower)
    # Triangular loops count by their mean, which is right for the sum of their work.
    count = min(_middle(end, known) for end in loop.upper) - lower
    first, last = known.get(loop.name, (0, -1))
    # A loop between two others (k < j < i) has none in their middle: a third of all pairs, each time.
    return count if count > 0 else max(0.0, (last - first + 1) / 3)


def constant_bounds(loop: Loop) -> Range | None:
    """The first iteration and the one behind the last; None where they depend on other loops."""
    if not all(end.is_constant for end in (*loop.lower, *loop.upper)):
        return None
    return max(end.constant for end in loop.lower), min(end.constant for end in loop.upper)


def _middle(form: Affine, known: Mapping[str, Range]) -> float:
    return form.constant + sum(c * (known[name][0] + known[name][1]) / 2 for name, c in form.terms)
