# SPDX-License-Identifier: Apache-2.0
"""Modulo reservation table beside the source (Lam 1988), linked both ways: an operation with the line that it comes
from.

A row of the schedule is a slot of the interval, a column a unit. What the user did not write has a dashed border, and
says why it exists. A raised number counts the intervals that an operation lags behind the start of its iteration.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from html import escape
from typing import Final

from polyloom.report.page.document import wrap_scrolling
from polyloom.report.page.source import Mark, link_attributes, source_pane
from polyloom.targets.report import Operation, Report, Reservation

_PANES: Final = 4
"""Sources that are shown."""
_LINKED: Final = (
    "Point at an operation or a line to see what belongs together; a dashed "
    "border marks what the compiler added. A raised number counts the intervals that an operation lags behind; the "
    "number before a line, how many operations it became."
)


def note(view: Report) -> str:
    """How to read it."""
    return f"Rows are slots of the interval. {_LINKED if view.operations else ''}".rstrip()


def schedule(view: Report, panes: bool = True) -> str:
    """Empty where there is no schedule; the sources only with `panes`."""
    if view.reservation is None and not view.operations:
        return ""
    files = {name: n for n, (name, _) in enumerate(view.sources)}
    known = {(o.unit, o.slot, o.name): chip(o, files) for o in view.operations}
    grid = (
        _reservation(view.reservation, known)
        if view.reservation is not None
        else _list_operations(view.operations, files)
    )
    if not panes:
        return wrap_scrolling(grid)
    shown = "".join(
        source_pane(name, text, list_marks(view.operations, name), n)
        for n, (name, text) in enumerate(view.sources[:_PANES])
    )
    return f'<div class="beside">{f"<div>{shown}</div>" if shown else ""}{wrap_scrolling(grid)}</div>'


def list_marks(operations: Sequence[Operation], file: str) -> tuple[Mark, ...]:
    """The lines of a file that became operations, with how many."""
    counted = Counter(o.provenance.line for o in operations if o.provenance is not None and o.provenance.file == file)
    return tuple(Mark(line, f"{n}×") for line, n in sorted(counted.items()))


def link(operation: Operation, files: Mapping[str, int]) -> str:
    """The attributes that link it with its line, where its source is on the page."""
    found = operation.provenance
    number = files.get(found.file) if found is not None else None
    return link_attributes(number, found.line, found.column, found.end_column) if found and number is not None else ""


def chip(operation: Operation, files: Mapping[str, int], lag: int = 0) -> str:
    """An operation, linked with its line; `files` numbers the sources of the page."""
    found, name = operation.provenance, escape(operation.name)
    late = f"<sup>{lag}</sup>" if lag else ""
    if found is None:
        return f'<span class="op">{name}{late}</span>'
    made = " made" if found.reason else ""
    title = f"{operation.name} = {operation.text}   {found}" if operation.text else f"{operation.name}   {found}"
    return f'<span class="op{made}"{link(operation, files)} title="{escape(title)}">{name}{late}</span>'


def _reservation(table: Reservation, known: Mapping[tuple[str, int, str], str]) -> str:
    head = "".join(f"<th>{escape(unit)}</th>" for unit in table.units)
    lines = "".join(
        f"<tr><th>{slot}</th>{_cells(row, slot, table.units, known)}</tr>" for slot, row in enumerate(table.rows)
    )
    return f'<table class="grid"><thead><tr><th>slot</th>{head}</tr></thead><tbody>{lines}</tbody></table>'


def _cells(row: Sequence[str], slot: int, units: Sequence[str], known: Mapping[tuple[str, int, str], str]) -> str:
    return "".join(_cell(cell, unit, slot, known) for unit, cell in zip(units, row, strict=True))


def _cell(cell: str, unit: str, slot: int, known: Mapping[tuple[str, int, str], str]) -> str:
    """Names of operations that the report knows become chips; any other text stays as it is."""
    if (unit, slot, cell) in known:
        return f"<td>{known[unit, slot, cell]}</td>"
    words = cell.split(" ") if cell else []
    names = [word.rstrip("'") for word in words]
    # All words or none: a text that only happens to hold an operation's name stays whole.
    if not names or any((unit, slot, name) not in known for name in names):
        return f"<td>{escape(cell)}</td>"
    chips = (_mark_lag(known[unit, slot, name], len(word) - len(name)) for name, word in zip(names, words, strict=True))
    return f"<td>{''.join(chips)}</td>"


def _mark_lag(made: str, lag: int) -> str:
    return made.replace("</span>", f"<sup>{lag}</sup></span>") if lag else made


def _list_operations(operations: Sequence[Operation], files: Mapping[str, int]) -> str:
    """Of what has no table of units: one row per operation."""
    rows = "".join(
        f'<tr><td class="n">{o.slot}</td><td>{escape(o.unit)}</td>'
        f"<td>{chip(o, files)}</td><td>{escape(o.text)}</td></tr>"
        for o in operations
    )
    head = "<th>slot</th><th>unit</th><th>operation</th><th></th>"
    return f'<table class="grid"><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>'
