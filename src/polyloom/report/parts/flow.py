# SPDX-License-Identifier: Apache-2.0
"""Control flow graphs, each different one once, under the names of all that have it.

A graph stands on a line: arcs above lead forward, arcs below lead back. A block's text and an edge's condition are what
the pointer tells.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Final

from polyloom.report.page.document import wrap_scrolling
from polyloom.report.page.svg import picture
from polyloom.targets.report import Flow

_BYTES: Final = 60_000
"""Of drawings on one page; the listing has all."""
_STEP, _BOX, _MIDDLE = 62, 40, 54
_NAMED: Final = 6


def flows(given: Sequence[Flow]) -> str:
    """All graphs; empty where there are none."""
    same: dict[Flow, list[str]] = {}
    for flow in given:
        # Without its title: units of several classes often run the same program.
        same.setdefault(Flow("", flow.blocks, flow.edges), []).append(flow.title)
    drawn, left = list[str](), _BYTES
    for flow, titles in same.items():
        made = _flow(flow, titles)
        left -= len(made)
        if left < 0:
            break
        drawn.append(made)
    more = len(same) - len(drawn)
    rest = f'<p class="note">{more} more are left out; the listing has all.</p>' if more else ""
    return "".join(drawn) + rest


def _flow(flow: Flow, titles: Sequence[str]) -> str:
    shown = "; ".join(titles[:_NAMED]) + (f"; and {len(titles) - _NAMED} more" if len(titles) > _NAMED else "")
    boxes = "".join(_block(n, text) for n, text in enumerate(flow.blocks))
    arcs = "".join(
        _arc(_block_position(a) + _BOX // 2, _block_position(b) + _BOX // 2, condition)
        for a, b, condition in flow.edges
    )
    drawn = picture(_block_position(len(flow.blocks)) + 8, 118, boxes + arcs, f"Control flow of {shown}", natural=True)
    return f"<h3>{escape(shown)}</h3>{wrap_scrolling(drawn)}"


def _block_position(number: int) -> int:
    return 8 + _STEP * number


def _block(number: int, content: str) -> str:
    x = _block_position(number)
    return (
        f"<g><title>{escape(content)}</title>"
        f'<rect class="box" x="{x}" y="{_MIDDLE}" width="{_BOX}" height="20" rx="4"/>'
        f'<text x="{x + _BOX // 2}" y="{_MIDDLE + 14}" text-anchor="middle">q{number + 1}</text></g>'
    )


def _arc(x: int, to: int, condition: str) -> str:
    title = f"<title>{escape(condition)}</title>" if condition else ""
    low = _MIDDLE + 20
    if x == to:
        path, tip = f"M{x - 9} {low}c-6 20 24 20 18 1", (x + 9, low + 1, 1)
    elif to > x:
        path = f"M{x + 6} {_MIDDLE}Q{(x + to) // 2} {_MIDDLE - 10 - min(34, (to - x) // 8)} {to - 6} {_MIDDLE - 2}"
        tip = (to - 6, _MIDDLE - 1, -1)
    else:
        path = f"M{x - 6} {low}Q{(x + to) // 2} {low + 14 + min(40, (x - to) // 8)} {to + 6} {low + 2}"
        tip = (to + 6, low + 1, 1)
    a, b, up = tip
    return f'<g>{title}<path class="edge" d="{path}"/><path class="tip" d="M{a} {b}l-3 {6 * up}h6z"/></g>'
