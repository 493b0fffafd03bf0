# SPDX-License-Identifier: Apache-2.0
"""Text report of a run, in the order that llvm-mca made familiar: summary, account of cycles, pressure, schedule, and
the bound of its interval (docs/report.md).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from polyloom.report import verdict
from polyloom.targets.costs import Line
from polyloom.targets.report import Report, Table
from polyloom.targets.target import Json

_BAR: Final = 20
_LONGEST: Final = 48
"""Lines of code that a text has room for; all of them are listed by a verb of its own."""


Rows = Sequence[tuple[str, str]]


def page(
    data: Mapping[str, Json],
    summary: Rows,
    scalars: Mapping[str, str],
    views: Sequence[Report],
    listing: str = "",
    account: str = "",
    prints: str = "",
) -> str:
    """`data` is what `run --json` prints, `summary` the rows that a reader wants first, `scalars` are outputs of one
    number, with a view for each phase; `account` are the lines of the account of cycles,
    `prints` those of what the source prints."""
    head = [headline(data), *(f"{name} = {value}" for name, value in scalars.items()), ""]
    sections = ["\n".join([*head, *(f"  {what:20} {value}" for what, value in summary)]), prints, account]
    for title, view in list_titles(views):
        bound = f"Bound of the interval: {view.bound}" if view.bound else ""
        tables = ["\n".join(_table(table)) for table in view.tables]
        sections += [
            title,
            *tables,
            "\n".join(_pressure(view)),
            "\n".join(_schedule(view)),
            "\n".join(_lanes(view)),
            bound,
        ]
    code = listing.split("\n")
    rest = [*_continuation_line(len(code))]
    return "\n\n".join(s for s in (*sections, "\n".join([*code[:_LONGEST], *rest])) if s)


def loop(lines: Sequence[Line]) -> str:
    """Section of the machine's code of the source's hottest loop, with the line that each of its lines comes from."""
    rows = [(line.text, str(line.line or ""), line.reason) for line in lines[:_LONGEST]]
    rest = [(line, "", "") for line in _continuation_line(len(lines))]
    table = Table("Hottest loop", ("code", "line", "why it was added"), (*rows, *rest))
    return "\n".join(_table(table)) if lines else ""


def _continuation_line(lines: int) -> Iterator[str]:
    if lines > _LONGEST:
        yield f"and {lines - _LONGEST} more lines: `polyloom show` lists a compiled file"


def list_titles(views: Sequence[Report]) -> Iterator[tuple[str, Report]]:
    """Every phase with its heading; a single one needs none. Of several programs each phase names its own."""
    for number, view in enumerate(views, 1):
        phase = f"Phase {number} of {len(views)}" if len(views) > 1 else ""
        yield view.title or phase, view


def headline(data: Mapping[str, Json]) -> str:
    """Kernel, parameters, place and verdict on one line."""
    return f"{titled_kernel(data)}: {verdict.run_verdict(data)}"


def titled_kernel(data: Mapping[str, Json]) -> str:
    """Kernel, parameters and place."""
    return f"{data['kernel']} {format_parameters(data)}".rstrip()


def format_parameters(data: Mapping[str, Json]) -> str:
    """Parameters and place."""
    values = data["parameters"]
    shown = [f"{n}={v}" for n, v in values.items()] if isinstance(values, dict) else []
    return " ".join([*shown, *([f"on {data['on']}"] if data["on"] else [])])


def times(data: Mapping[str, Json]) -> list[tuple[str, str]]:
    """How long everything took, as a row of the summary."""
    known = [(data.get(f"{what}_seconds"), what) for what in ("compile", "instantiate", "run")]
    return [("time", ", ".join(f"{what} {_seconds(value)}" for value, what in known if isinstance(value, float)))]


def _table(table: Table) -> Iterator[str]:
    yield table.title
    rows = [table.columns, *table.rows]
    widths = [max(len(row[n]) for row in rows) for n in range(len(table.columns))]
    yield from ("  " + _line(row, widths) for row in rows)


def _lanes(view: Report) -> Iterator[str]:
    if not view.lanes:
        return
    yield "Lanes (from the first cycle to the one after the last)"
    for lane in view.lanes:
        yield f"  {lane.name:12} " + "  ".join(f"{what} {first}-{end}" for first, end, what in lane.spans)


def _pressure(view: Report) -> Iterator[str]:
    if not view.pressure:
        return
    yield "Pressure by unit (slots of one initiation interval)"
    for p in view.pressure:
        if p.used:
            yield f"  {p.unit:12} {p.used:3}/{p.available:<3} {'#' * (_BAR * p.used // p.available)}"
    idle = [p.unit for p in view.pressure if not p.used]
    if idle:
        yield f"  idle: {', '.join(idle)}"


def _schedule(view: Report) -> Iterator[str]:
    if view.reservation is None or not view.reservation.units:
        return
    yield "Schedule (rows are slots; a ' marks each interval that an operation lags behind its iteration's start)"
    slots = enumerate(view.reservation.rows)
    rows = [("slot", *view.reservation.units), *((str(slot), *(cell or "." for cell in row)) for slot, row in slots)]
    widths = [max(len(row[n]) for row in rows) for n in range(len(rows[0]))]
    yield from ("  " + _line(row, widths) for row in rows)


def _line(row: Sequence[str], widths: Sequence[int]) -> str:
    return "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()


def _seconds(value: float) -> str:
    return f"{value:.2f} s" if value >= 1 else f"{value * 1e3:.1f} ms"
