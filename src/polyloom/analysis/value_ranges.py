# SPDX-License-Identifier: Apache-2.0
"""Which numbers loops and affine forms can take: intervals, from the outermost loop inwards, which may be too wide."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from polyloom.ir.nest import If, Loop, Node
from polyloom.sets import Affine

Range = tuple[int, int]
"""Least and greatest value; the greatest is less where there is none."""


def ranges(nodes: Iterable[Node], around: Mapping[str, Range] | None = None) -> dict[str, Range]:
    """Of every loop in `nodes`."""
    found = dict(around or {})
    for node in nodes:
        if isinstance(node, Loop):
            found[node.name] = loop_range(node, found)
            found |= ranges(node.body, found)
        elif isinstance(node, If):
            found |= ranges((*node.body, *node.orelse), found)
    return found


def loop_range(loop: Loop, known: Mapping[str, Range]) -> Range:
    """Of one loop."""
    return max(of(end, known)[0] for end in loop.lower), min(of(end, known)[1] for end in loop.upper) - 1


def of(form: Affine, known: Mapping[str, Range]) -> Range:
    """Of a form, whose symbols all are known."""
    low = high = form.constant
    for name, factor in form.terms:
        ends = [factor * end for end in known[name]]
        low, high = low + min(ends), high + max(ends)
    return low, high


def trips(loop: Loop, known: Mapping[str, Range]) -> float:
    """About how many iterations the loop has each time: bounds that depend on other loops count at their middle."""
    lower = max(_middle(end, known) for end in loop.lower)
    return max(0.0, min(_middle(end, known) for end in loop.upper) - lower)


def _middle(form: Affine, known: Mapping[str, Range]) -> float:
    return form.constant + sum(c * (known[name][0] + known[name][1]) / 2 for name, c in form.terms)
