# SPDX-License-Identifier: Apache-2.0
"""Lanes: things with spans of life, such as places of a belt; a row each, a rectangle per span, over an axis of cycles
(a Gantt chart).
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from polyloom.report.page.axis import Scale, draw_horizontal
from polyloom.report.page.svg import decimal, picture, text
from polyloom.targets.report import Lane


def lanes(given: Sequence[Lane]) -> str:
    """Empty where there are none."""
    if not given:
        return ""
    end = max((last for lane in given for _, last, _ in lane.spans), default=1)
    scale = Scale(0, end, 110, 720)
    parts = [part for row, lane in enumerate(given) for part in _lane(lane, 20 * row, scale)]
    below = 20 * len(given) + 4
    return picture(740, below + 36, "".join(parts) + draw_horizontal(scale, below, "cycle"), f"{len(given)} lanes")


def _lane(lane: Lane, top: int, scale: Scale) -> list[str]:
    boxes = [
        f'<rect class="box" x="{decimal(scale.at(first))}" y="{top + 2}" height="15" rx="3" '
        f'width="{decimal(max(scale.at(last) - scale.at(first), 2))}">'
        f"<title>{escape(what)}: {first} to {last}</title></rect>"
        for first, last, what in lane.spans
    ]
    return [text(100, top + 14, lane.name, "end"), *boxes]
