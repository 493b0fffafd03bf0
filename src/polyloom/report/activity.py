# SPDX-License-Identifier: Apache-2.0
"""A run in space and time: one row per element (or per group of events), or per row of elements where
there are many; one column per span of cycles, darker where more is issued.

The wavefront that fills the array, the steady state and the way out are seen at a glance.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from itertools import groupby
from re import findall, sub
from typing import Final

from polyloom.targets.trace import Span

_COLUMNS: Final = 480
_LEVELS: Final = 8
"""Shades beside white: enough to tell, few enough that equal neighbours become one rectangle."""
_LABELLED: Final = 32
"""Groups that have room for their names."""
_MARGIN: Final = 110
_WIDTH: Final = 720


def picture(events: Sequence[Span]) -> str:
    """An SVG drawing of the operations that `events` start; empty where there are none."""
    if not events:
        return ""
    cycles = 1 + max(e.start for e in events)
    span = -(-cycles // _COLUMNS)
    named = _names({e.group for e in events})
    issued = Counter((named[e.group], e.start // span) for e in events)
    groups = sorted({g for g, _ in issued}, key=_natural)
    most, height = max(issued.values()), 14 if len(groups) <= _LABELLED else 4
    parts = [
        p
        for row, g in enumerate(groups)
        for p in _row(g, row * height, height, [-(-_LEVELS * issued[g, n] // most) for n in range(-(-cycles // span))])
    ]
    below = len(groups) * height + 14
    parts.append(
        f'<text x="{_MARGIN}" y="{below}">cycle 0</text><text x="{_MARGIN + _WIDTH}" y="{below}" '
        f'text-anchor="end">cycle {cycles - 1}</text>'
    )
    size = f'width="{_MARGIN + _WIDTH + 8}" height="{below + 6}" viewBox="0 0 {_MARGIN + _WIDTH + 8} {below + 6}"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="monospace" font-size="11" '
        f'fill="#223">{"".join(parts)}</svg>'
    )


def _names(groups: set[str]) -> dict[str, str]:
    """What the row of each group is called: where they are many, those with the same first number, `element (3, 0)` and
    so on, share `element (3, …)`."""
    return {g: sub(r"([0-9]+), [0-9]+", r"\1, …", g) if len(groups) > _LABELLED else g for g in groups}


def _natural(name: str) -> tuple[object, ...]:
    """Element (2, 10) after element (2, 9)."""
    return (*map(int, findall(r"[0-9]+", name)), name)


def _row(group: str, top: int, height: int, levels: Sequence[int]) -> Iterator[str]:
    if height > 10:
        yield f'<text x="{_MARGIN - 6}" y="{top + height - 3}" text-anchor="end">{escape(group)}</text>'
    for level, start, end in _runs(levels):
        if level:
            x, width = _MARGIN + _WIDTH * start / len(levels), _WIDTH * (end - start) / len(levels)
            yield (
                f'<rect x="{x:.1f}" y="{top}" width="{width:.1f}" height="{height - 1}" fill="hsl(152 45% '
                f'{88 - 48 * level // _LEVELS}%)"/>'
            )


def _runs(levels: Iterable[int]) -> Iterator[tuple[int, int, int]]:
    """(level, first column, column after the last) of equal neighbours."""
    start = 0
    for level, equal in groupby(levels):
        end = start + sum(1 for _ in equal)
        yield level, start, end
        start = end
