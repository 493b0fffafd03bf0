# SPDX-License-Identifier: Apache-2.0
"""Notebook views of a run or a file: HTML without a script, small, in the colours of the notebook.

Text has the colour of the text around it and no background of its own; the few other colours are `light-dark()`, by the
theme that the notebook says it has, else by that of the browser. Everything is scoped to one class.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from html import escape
from typing import Final

from polyloom.report import activity, run_text, verdict
from polyloom.report.page.document import asset
from polyloom.report.parts import bound
from polyloom.report.parts.tables import grid
from polyloom.targets.activity import Activity
from polyloom.targets.report import Report, Reservation, Table
from polyloom.targets.target import Json

_LARGEST: Final = 28_000
"""Bytes; what does not fit is left out, and the page has it."""
_LINES: Final = 400
_PICTURE: Final = 14_000


def _style() -> str:
    return f"<style>{asset('notebook.css')}</style>"


def bundle(plain: str, html: str, include: object = None, exclude: object = None) -> dict[str, str]:
    """What `_repr_mimebundle_` gives, of the kinds that a front end asks for."""
    found = {"text/plain": plain, "text/html": html}
    wanted = found if include is None else {kind: found[kind] for kind in found if kind in _kinds(include)}
    return {kind: content for kind, content in wanted.items() if kind not in _kinds(exclude)}


def _kinds(given: object) -> frozenset[str]:
    # Front ends pass lists, sets or nothing; anything else asks for all kinds.
    return frozenset(str(kind) for kind in given) if isinstance(given, set | list | tuple | frozenset) else frozenset()  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]  # of whatever a front end gives


def result(
    data: Mapping[str, Json], summary: run_text.Rows, views: Sequence[Report], found: Activity | None = None
) -> str:
    """Of a run."""
    kind = f' class="{verdict.mood(data)}"'
    head = f"<h3>{escape(run_text.titled_kernel(data))}: <span{kind}>{escape(verdict.run_verdict(data))}</span></h3>"
    rows = "".join(f"<tr><th>{escape(a)}</th><td>{escape(b)}</td></tr>" for a, b in summary)
    made = [head, f"<table>{rows}</table>"]
    drawn = activity.picture(found, largest=_PICTURE)
    if drawn:
        made.append(f"<h4>Activity (stronger: more operations)</h4>{drawn}")
    # Notebooks are saved with their outputs: a small view keeps their files small.
    left = _LARGEST - len(_style()) - sum(len(part.encode()) for part in made)
    for part in _phases(views):
        left -= len(part.encode())
        if left < 0:
            made.append("<p>There is more on the page: <code>.show()</code></p>")
            break
        made.append(part)
    return _wrap_style("".join(made))


def _phases(views: Sequence[Report]) -> Iterator[str]:
    for title, view in run_text.list_titles(views):
        said = bound.bound(view)
        yield f"<h3>{title}</h3>" if title else ""
        yield f"<h4>Bound of the interval</h4>{said}" if said else ""
        yield from (f'<h4>{escape(table.title)}</h4><div class="wide">{grid(table)}</div>' for table in view.tables)
        if view.reservation is not None and view.reservation.units:
            yield f'<h4>Schedule</h4><div class="wide">{grid(_schedule(view.reservation))}</div>'


def _schedule(table: Reservation) -> Table:
    rows = tuple((str(slot), *row) for slot, row in enumerate(table.rows))
    return Table("Schedule", ("slot", *table.units), rows)


def listing(content: str) -> str:
    """Of a file: its listing, of a long one the beginning."""
    lines, size = list[str](), 0
    for line in content.splitlines()[:_LINES]:
        size += len(escape(line).encode()) + 1
        if size > _LARGEST - len(_style()):
            break
        lines.append(line)
    more = len(content.splitlines()) - len(lines)
    rest = f"\n… {more} more lines: .listing" if more else ""
    return _wrap_style(f"<pre>{escape(chr(10).join(lines) + rest)}</pre>")


def table(title: str, given: Table, notes: Sequence[tuple[str, str]]) -> str:
    """Of what is one table, such as a comparison: with a line for each note, (what, text). Of a long one the first
    rows."""
    told = "".join(f"<tr><th>{escape(what)}</th><td>{escape(run_text)}</td></tr>" for what, run_text in notes)
    head = f"<h3>{escape(title)}</h3><p>{escape(given.title)}</p>"
    more = f"<table>{told}</table>" if told else ""
    fitting = _truncate_table(given, _LARGEST - len(_style()) - len((head + more).encode()))
    if left := len(given.rows) - len(fitting.rows):
        more = f"<p>{left} more rows are on the page: <code>.show()</code></p>{more}"
    return _wrap_style(f'{head}<div class="wide">{grid(fitting) if fitting.rows else ""}</div>{more}')


def _truncate_table(given: Table, most: int) -> Table:
    """The first rows of as many bytes."""
    heads = len(grid(replace(given, rows=())).encode())
    left = most - heads
    for number, row in enumerate(given.rows):
        left -= len(grid(replace(given, rows=(row,))).encode()) - heads
        if left < 0:
            return replace(given, rows=given.rows[:number])
    return given


def _wrap_style(content: str) -> str:
    return f'<div class="polyloom">{_style()}{content}</div>'


class Embedded:
    """A page in a frame of its own, as notebooks show it: nothing in it reaches the notebook."""

    def __init__(self, page: str, title: str) -> None:
        self.page, self.title = page, title

    def __repr__(self) -> str:
        return f"<page of {self.title}: {len(self.page.encode())} bytes>"

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        frame = (
            f'<iframe title="{escape(self.title)}" sandbox="allow-scripts" srcdoc="{escape(self.page)}" '
            f'style="width:100%;height:44rem;border:1px solid #8888;border-radius:8px;resize:vertical"></iframe>'
        )
        return bundle(repr(self), frame, include, exclude)
