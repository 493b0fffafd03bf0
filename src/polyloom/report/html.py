# SPDX-License-Identifier: Apache-2.0
"""One HTML page without a network: summary, activity, pressure and reservation table, the array with its routes,
control flow.

The array is drawn once per element, coloured by the program that it runs; arrows are the links that carry values,
squares are banks. A control flow graph stands on a line: arcs above lead forward, arcs below lead back.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Final

from polyloom.report import activity, text
from polyloom.report.text import Rows
from polyloom.targets.report import Flow, Grid, Lane, Report, Reservation, Table
from polyloom.targets.target import Json
from polyloom.targets.trace import Span

_STYLE: Final = """
.polyloom { font: 14px/1.5 system-ui, sans-serif; color: #223; max-width: 62rem; margin: 2rem auto; padding: 0 1rem }
.polyloom h1 { font-size: 1.3rem } .polyloom h2 { font-size: 1rem; margin: 2rem 0 .5rem; color: #456 }
.polyloom table { border-collapse: collapse }
.polyloom td, .polyloom th { padding: .15rem .8rem .15rem 0; text-align: left;
  vertical-align: top }
.polyloom .grid td, .polyloom .grid th { border: 1px solid #ccd; padding: .15rem .5rem;
  font-family: ui-monospace, monospace; font-size: 12px }
.polyloom svg { display: block; margin: .5rem 0; max-width: 100%; height: auto }
.polyloom svg text { font: 11px ui-monospace, monospace; fill: #223 }
.polyloom .columns { display: flex; gap: 1.5rem; overflow-x: auto } .polyloom .columns pre { font-size: 12px }
.polyloom .bar { display: inline-block; height: .7rem; background: #5b8; border-radius: 2px }
.polyloom .bad { color: #b22 }
"""
_CELL: Final = 44
_FLOWS: Final = 24
"""Control flow graphs that are drawn; the listing has them all."""


def document(
    data: Mapping[str, Json],
    summary: Rows,
    views: Sequence[Report],
    events: Sequence[Span],
    listing_text: str = "",
    passes: Sequence[tuple[str, str]] = (),
) -> str:
    """The whole page."""
    title = escape(text.headline(data))
    details = f"<details><summary>Listing</summary>{listing(listing_text)}</details>" if listing_text else ""
    details = _columns(passes) + details
    return (
        f'<!doctype html>\n<html lang="en"><meta charset="utf-8"><title>{title}</title>\n'
        f"<body>{body(data, summary, views, events, details)}</body></html>\n"
    )


def _columns(passes: Sequence[tuple[str, str]]) -> str:
    """The form after each pass, side by side."""
    if not passes:
        return ""
    columns = (f"<div><h2>after {escape(name)}</h2>{listing(text)}</div>" for name, text in passes)
    return f'<details open><summary>Passes</summary><div class="columns">{"".join(columns)}</div></details>'


def body(
    data: Mapping[str, Json], summary: Rows, views: Sequence[Report], events: Sequence[Span], more: str = ""
) -> str:
    """The page's content, which is also what a notebook shows."""
    bad = "" if data["verified"] is not False else ' class="bad"'
    sections = [
        f"<style>{_STYLE}</style><h1{bad}>{escape(text.headline(data))}</h1>",
        _rows((escape(a), escape(b)) for a, b in summary),
        "<h2>Activity (darker: more operations)</h2>" + activity.picture(events) if events else "",
        *(_phase(title, view) for title, view in text.titled(views)),
        more,
    ]
    return f'<div class="polyloom">{"".join(sections)}</div>'


def _phase(title: str, view: Report) -> str:
    sections = [
        f"<h1>{title}</h1>" if title else "",
        f"<h2>Bottleneck</h2><p>{escape(view.bottleneck)}</p>" if view.bottleneck else "",
        "".join(map(_table, view.tables)),
        "<h2>Schedule</h2>" + _reservation(view.reservation) if view.reservation else "",
        "<h2>Pressure</h2>" + _pressure(view) if view.pressure else "",
        "<h2>Lanes</h2>" + _lanes(view.lanes) if view.lanes else "",
        "<h2>Array</h2>" + _array(view.grid) if view.grid else "",
        "<h2>Control flow</h2>" + "".join(map(_flow, view.flows[:_FLOWS])) + _left_out(view) if view.flows else "",
    ]
    return "".join(sections)


def _table(table: Table) -> str:
    head = "".join(f"<th>{escape(column)}</th>" for column in table.columns)
    rows = ("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in table.rows)
    return f'<h2>{escape(table.title)}</h2><table class="grid"><tr>{head}</tr>{"".join(rows)}</table>'


def _pressure(view: Report) -> str:
    return _rows(
        (
            escape(p.unit),
            f'<span class="bar" style="width:{10 * p.used / p.available:.2f}rem"></span> {p.used}/{p.available}',
        )
        for p in view.pressure
    )


def _lanes(lanes: Sequence[Lane]) -> str:
    """A row per lane, a rectangle per span."""
    end = max((last for lane in lanes for _, last, _ in lane.spans), default=1)
    parts: list[str] = []
    for row, lane in enumerate(lanes):
        parts.append(f'<text x="4" y="{18 * row + 13}">{escape(lane.name)}</text>')
        for first, last, what in lane.spans:
            x, width = 110 + 600 * first / end, max(600 * (last - first) / end, 2)
            box = f'<rect x="{x:.1f}" y="{18 * row + 2}" width="{width:.1f}" height="14" fill="#9cb" stroke="#456">'
            parts.append(f"{box}<title>{escape(what)}: {first} to {last}</title></rect>")
    return _svg(720, 18 * len(lanes) + 4, "".join(parts))


def listing(content: str) -> str:
    return f"<pre>{escape(content)}</pre>"


def _rows(rows: Iterable[tuple[str, str]]) -> str:
    return "<table>" + "".join(f"<tr><th>{a}</th><td>{b}</td></tr>" for a, b in rows) + "</table>"


def _reservation(table: Reservation) -> str:
    head = "".join(f"<th>{escape(unit)}</th>" for unit in table.units)
    cells = ("".join(f"<td>{escape(cell)}</td>" for cell in row) for row in table.rows)
    lines = (f"<tr><th>{slot}</th>{row}</tr>" for slot, row in enumerate(cells))
    return f'<table class="grid"><tr><th>slot</th>{head}</tr>{"".join(lines)}</table>'


def _colour(label: str) -> str:
    """Hues a golden angle apart, so that classes with near numbers look different."""
    number = int("".join(c for c in label if c.isdecimal()) or "0")
    return f"hsl({number * 137 % 360} 55% 80%)" if label else "#f4f4f6"


def _array(grid: Grid) -> str:
    rows, columns = len(grid.labels), len(grid.labels[0]) if grid.labels else 0
    parts = [_square(r, c, label) for r, row in enumerate(grid.labels) for c, label in enumerate(row)]
    parts += [
        f'<rect x="{_at(c) + 10}" y="{_at(r) + 10}" width="12" height="12" fill="#889"><title>bank at ({r}, '
        f"{c})</title></rect>"
        for r, c in grid.banks
    ]
    parts += [_arrow(*wire) for wire in grid.wires]
    arrow = (
        '<marker id="tip" viewBox="0 0 6 6" refX="5" refY="3" markerWidth="5" markerHeight="5" '
        'orient="auto"><path d="M0 0L6 3L0 6z" fill="#446"/></marker>'
    )
    return _svg((columns + 2) * _CELL, (rows + 2) * _CELL, f"<defs>{arrow}</defs>" + "".join(parts))


def _at(index: int) -> int:
    return (index + 1) * _CELL + 6


def _square(row: int, column: int, label: str) -> str:
    x, y = _at(column), _at(row)
    title = f"element ({row}, {column}), " + (f"program {label}" if label else "idle")
    box = (
        f'<rect x="{x}" y="{y}" width="32" height="32" rx="4" fill="{_colour(label)}" '
        f'stroke="#99a"><title>{title}</title></rect>'
    )
    return box + f'<text x="{x + 16}" y="{y + 20}" text-anchor="middle">{label}</text>'


def _arrow(start: tuple[int, int], end: tuple[int, int]) -> str:
    """From edge to edge, beside the middle, so that a pair of opposite arrows stays apart."""
    down, right = end[0] - start[0], end[1] - start[1]
    x, y = _at(start[1]) + 16 + 17 * right + 5 * down, _at(start[0]) + 16 + 17 * down - 5 * right
    return f'<line x1="{x}" y1="{y}" x2="{x + 10 * right}" y2="{y + 10 * down}" stroke="#446" marker-end="url(#tip)"/>'


def _flow(flow: Flow) -> str:
    step, middle = 78, 60
    parts = [f'<text x="4" y="12">{escape(flow.title)}</text>']
    for number, block in enumerate(flow.blocks):
        x = 8 + step * number
        parts.append(
            f'<rect x="{x}" y="{middle}" width="54" height="22" rx="4" fill="#eef2f8" '
            f'stroke="#99a"><title>{escape(block)}</title></rect>'
        )
        parts.append(f'<text x="{x + 27}" y="{middle + 15}" text-anchor="middle">q{number + 1}</text>')
    for start, end, condition in flow.edges:
        parts.append(_arc(8 + step * start + 27, 8 + step * end + 27, middle, condition))
    return _svg(step * len(flow.blocks) + 24, 140, "".join(parts))


def _arc(x: int, to: int, middle: int, condition: str) -> str:
    title = f"<title>{escape(condition or 'always')}</title>"
    if x == to:
        path = f"M{x - 10} {middle + 22} c-6 22 26 22 20 0"
    elif to > x:
        path = f"M{x + 6} {middle} Q{(x + to) // 2} {middle - 12 - min(30, (to - x) // 8)} {to - 6} {middle}"
    else:
        path = f"M{x - 6} {middle + 22} Q{(x + to) // 2} {middle + 36 + min(40, (x - to) // 8)} {to + 6} {middle + 22}"
    return f'<path d="{path}" fill="none" stroke="#446" marker-end="url(#tip)">{title}</path>'


def _left_out(view: Report) -> str:
    more = len(view.flows) - _FLOWS
    return f"<p>{more} more graphs are left out.</p>" if more > 0 else ""


def _svg(width: int, height: int, content: str) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} '
        f'{height}">{content}</svg>'
    )
