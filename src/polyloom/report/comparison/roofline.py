# SPDX-License-Identifier: Apache-2.0
"""Roofline of a comparison: each machine's run below its own ceiling, both in its own cycles, on logarithmic axes.

The place of a run is (work per byte moved, work per cycle); its ceiling is the lesser of its units and of what its
boundary passes per cycle times the work per byte (Williams, Waterman, Patterson, CACM 52(4), 2009). The distance from a
run to its own ceiling can be compared between machines; heights of different machines cannot.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from math import floor, log10
from typing import Any, Final

from polyloom.report.page.axis import Scale, draw_horizontal, draw_vertical
from polyloom.report.page.svg import decimal, picture, text

_WIDTH: Final = 640
_HEIGHT: Final = 360
_LEFT: Final = 58
_TOP: Final = 26
_BOTTOM: Final = 52
COLOURS: Final = 8
_LINE: Final = 12
"""Pixels between two texts."""


@dataclass(frozen=True, slots=True)
class Point:
    """A row of the table, `number` from 1: what it achieves, and its ceiling's two parts."""

    number: int
    name: str
    intensity: float
    rate: float
    units: float
    bandwidth: float | None

    def ceiling(self, intensity: float) -> float:
        """Attainable rate in operations per cycle at this intensity (Williams, Waterman and Patterson 2009)."""
        return self.units if self.bandwidth is None else min(self.units, self.bandwidth * intensity)


def points(rows: Sequence[Mapping[str, Any]]) -> list[Point]:
    """The rows that have time, units, and bytes that are counted."""
    return [
        Point(
            number,
            row["on"],
            row["work_per_byte"],
            row["work_per_cycle"],
            row["units"],
            row["boundary_bytes_per_cycle"],
        )
        for number, row in enumerate(rows, 1)
        if row["work_per_byte"] and row["work_per_cycle"] and row["units"]
    ]


def roofline(found: Sequence[Point], compulsory: float | None) -> str:
    """The picture; empty without a point. `compulsory` is the work per compulsory byte."""
    if not found:
        return ""
    xs = [p.intensity for p in found] + ([compulsory] if compulsory else [])
    # Ridge points are in the picture, so that each ceiling shows both of its parts.
    ridges = [p.units / p.bandwidth for p in found if p.bandwidth]
    x = _decades(min([*xs, *ridges]), max([*xs, *ridges]), _LEFT, _WIDTH - 14)
    heights = [p.rate for p in found] + [p.units for p in found] + [p.ceiling(x.first) for p in found]
    y = _decades(min(heights), max(heights), _HEIGHT - _BOTTOM, _TOP)
    parts = [
        draw_horizontal(x, _HEIGHT - _BOTTOM, "work per byte moved"),
        draw_vertical(y, _LEFT, "work per cycle of the machine itself"),
    ]
    if compulsory:
        parts.append(_compulsory(x.at(compulsory), y))
    parts += [_ceiling(p, x, y) for p in found]
    parts += list(_ceiling_labels(found, x, y))
    parts += [_mark(p, x, y) for p in found]
    names = ", ".join(p.name for p in found)
    return picture(_WIDTH, _HEIGHT, "".join(parts), f"Roofline of {names}: each below its own ceiling", "roofline")


def _decades(least: float, most: float, start: float, end: float) -> Scale:
    """Whole powers of ten around all values."""
    low, high = floor(log10(least)), floor(log10(most)) + 1
    return Scale(10.0**low, 10.0**high, start, end, 10)


def _compulsory(at: float, y: Scale) -> str:
    line = f'<path class="edge" stroke-dasharray="2 4" d="M{decimal(at)} {decimal(y.start)}V{decimal(y.end)}"/>'
    return line + text(at - 4, y.start - 6, "compulsory bytes", "end")


def _colour(number: int) -> str:
    return f"var(--c{(number - 1) % COLOURS})"


def _ceiling(p: Point, x: Scale, y: Scale) -> str:
    """Up to the ridge, then level; from where it is within the picture."""
    ridge = x.first if p.bandwidth is None else p.units / p.bandwidth
    start = max(x.first, y.first / p.bandwidth) if p.bandwidth else x.first
    ridge = max(ridge, start)
    way = [(start, p.ceiling(start)), (ridge, p.ceiling(ridge)), (x.last, p.ceiling(x.last))]
    line = " ".join(f"{'L' if n else 'M'}{decimal(x.at(a))} {decimal(y.at(b))}" for n, (a, b) in enumerate(way))
    title = f"<title>{escape(p.name)}: at most {p.units:,.0f} operations per cycle</title>"
    return f'<path fill="none" stroke-width="1.6" stroke="{_colour(p.number)}" d="{line}">{title}</path>'


def _ceiling_labels(found: Sequence[Point], x: Scale, y: Scale) -> Iterator[str]:
    """At the end of each ceiling the numbers of its rows; ceilings that nearly touch have one text."""
    together: list[tuple[float, list[str]]] = []
    for p in sorted(found, key=lambda p: (p.ceiling(x.last), p.number)):
        height = y.at(p.ceiling(x.last))
        if not together or together[-1][0] - height > _LINE:
            together.append((height, []))
        together[-1][1].append(str(p.number))
    for height, numbers in together:
        yield text(x.at(x.last) - 2, height - 4, ", ".join(numbers), "end")


def _mark(p: Point, x: Scale, y: Scale) -> str:
    """A dot with the row's number, and a line to its own ceiling."""
    at, height, above = x.at(p.intensity), y.at(p.rate), y.at(p.ceiling(p.intensity))
    told = f"{p.name}: {p.rate:.3g} operations per cycle, {p.rate / p.ceiling(p.intensity):.0%} of its own ceiling"
    colour = _colour(p.number)
    lead = f'<path stroke="{colour}" stroke-dasharray="3 3" d="M{decimal(at)} {decimal(height)}V{decimal(above)}"/>'
    place = f'cx="{decimal(at)}" cy="{decimal(height)}" r="5" fill="{colour}"'
    dot = f"<circle {place}><title>{escape(told)}</title></circle>"
    return lead + dot + text(at + 9, height + 4, str(p.number))
