# SPDX-License-Identifier: Apache-2.0
"""HTML page of a comparison: the table, the roofline, and the source beside each machine's inner loop, lines linked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any, Final

from polyloom.report import verdict
from polyloom.report.comparison.columns import Cell, columns, headline, list_rows, notes, totals
from polyloom.report.comparison.roofline import COLOURS, points, roofline
from polyloom.report.page import document as parts
from polyloom.report.page.source import Mark, source_pane
from polyloom.report.parts.loop import row as code

_STYLE: Final = """
.swatch { display: inline-block; width: .7rem; height: .7rem; border-radius: 50%; margin-right: .45rem }
.code ol { counter-reset: none } .code li::before { content: none } .code li { padding-left: .8rem }
.roofline { max-width: 46rem; width: 100% }
.grid th[scope=row] { white-space: nowrap } .grid td.b { min-width: 9rem }
.tabs section { margin-top: .4rem }
"""
_WORDS: Final = ("on", "verdict", "kind of time", "bound by")
"""Columns that are no figures."""
_CAVEAT: Final = (
    "A cycle of one machine is not a cycle of another: compare shares, unit-cycles per operation and bytes, not cycles."
)
_ROOFLINE: Final = (
    "Each run below its own ceiling, in its own cycles: the lesser of its units and of what its boundary passes. "
    "The distance to the own ceiling can be compared; heights of different machines cannot."
)


def document(data: Mapping[str, Any], source: str) -> str:
    """The whole file; `data` is that of `polyloom compare --json`, `source` the text of the file."""
    rows = data["rows"]
    title = f"{headline(data)} on {len(rows)} machines"
    head = f'<h1>{escape(title)}</h1><p class="note">{escape(totals(data))}</p>'
    body = [
        head,
        parts.section("Machines", _table(data) + _notes(data), note=_CAVEAT),
        parts.section("Roofline", _roofline(data), note=_ROOFLINE),
        parts.section("Inner loops", _loops(data, source), note="Lines light up with what they became."),
    ]
    return parts.document(title, _STYLE, f"<main>{''.join(body)}</main>")


def _table(data: Mapping[str, Any]) -> str:
    shown = columns(data)
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in shown)
    rows = "".join(_row(number, row, shown) for number, row in enumerate(list_rows(data)))
    return parts.wrap_scrolling(f'<table class="grid"><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>')


def _row(number: int, row: Mapping[str, Any], shown: Mapping[str, Cell]) -> str:
    moods = {"verdict": verdict.mood(row)}
    cells = "".join(_cell(name, cell(row), moods.get(name)) for name, cell in shown.items() if name != "on")
    return f'<tr><th scope="row">{_swatch(number)}{number + 1} {escape(row["on"])}</th>{cells}</tr>'


def _cell(name: str, value: str | None, mood: str | None) -> str:
    kind = ' class="b"' if name == "bound by" else "" if name in _WORDS else ' class="n"'
    told = escape("–" if value is None else value)
    return f"<td{kind}>{f'<span class={mood}>{told}</span>' if mood else told}</td>"


def _swatch(number: int) -> str:
    return f'<span class="swatch" style="background:var(--c{number % COLOURS})"></span>'


def _notes(data: Mapping[str, Any]) -> str:
    lines = "".join(f"<li><b>{escape(on)}</b>: {escape(told)}</li>" for on, told in notes(data))
    return f"<ul>{lines}</ul>" if lines else ""


def _roofline(data: Mapping[str, Any]) -> str:
    found = points(data["rows"])
    if not found:
        return ""
    work, compulsory = data["work"], data["compulsory_bytes"]
    drawn = {p.name for p in found}
    # Named, so that nobody takes a machine that is not drawn for one that is hidden by another.
    missing = [row["on"] for row in data["rows"] if row["on"] not in drawn]
    without = f"Not drawn, without time or without counted bytes: {', '.join(missing)}." if missing else ""
    told = f'<p class="note">{escape(without)}</p>' if without else ""
    return roofline(found, work / compulsory if work and compulsory else None) + told


def _loops(data: Mapping[str, Any], source: str) -> str:
    """The source, and a tab for each machine that shows a loop."""
    shown = [row for row in data["rows"] if row["loop"]]
    if not shown:
        return ""
    tabs = "".join(_tab(row) for row in shown)
    pane = source_pane(data["source"], source, _marks(shown)) if source else ""
    return f'<div class="beside">{pane}<div class="tabs">{tabs}</div></div>'


def _marks(rows: Sequence[Mapping[str, Any]]) -> list[Mark]:
    """Every line that a machine's loop comes from, with how many machines show it."""
    known = Counter(line for row in rows for line in {each["line"] for each in row["loop"] if each["line"]})
    return [Mark(line, f"{count}×") for line, count in sorted(known.items())]


def _tab(row: Mapping[str, Any]) -> str:
    lines = "".join(code(each["text"], each["line"] or 0, each["reason"]) for each in row["loop"])
    caption = f"<figcaption>{escape(row['on'])}</figcaption>"
    figure = f'<figure class="source code">{caption}<ol>{lines}</ol></figure>'
    return f'<section data-tab="{escape(row["on"])}">{figure}</section>'
