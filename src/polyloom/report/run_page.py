# SPDX-License-Identifier: Apache-2.0
"""HTML page of a run (docs/report.md), one file without a network: verdict and figures, source beside schedule, array,
activity, pressure, bottleneck, control flow and listing; of several phases each in a section of its own.

This is the page's table of contents: each section is made by the file of its name in `parts`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import PurePath
from typing import Final

from polyloom.report import run_text
from polyloom.report.page.document import asset, document, fold_section, section
from polyloom.report.parts import activity, array, bottleneck, flow, head, lanes, loop, pressure, schedule, tables
from polyloom.targets.activity import Activity
from polyloom.targets.costs import Line
from polyloom.targets.report import Report
from polyloom.targets.target import Json, Simulated
from polyloom.targets.trace import trace_activity

_FOREIGN: Final = "The program was not compiled here, so that there is no source to show, and nothing to compare with."


@dataclass(frozen=True, slots=True)
class Shown:
    """What there is to show: `data` is what `run --json` prints, `summary` the rows that a reader wants first, with a
    view for each phase; `passes` are the forms between passes, name and text; `loop` is the inner loop of a machine
    that has no schedule, `source` the file that it comes from, name and text; `without` says why no source is shown,
    `notice` what the activity lacks."""

    data: Mapping[str, Json]
    summary: run_text.Rows
    views: Sequence[Report]
    activity: Activity | None = None
    listing: str = ""
    passes: Sequence[tuple[str, str]] = ()
    loop: Sequence[Line] = ()
    source: tuple[str, str] | None = None
    without: str = ""
    notice: str = ""


def page(shown: Shown) -> str:
    """The whole file."""
    views = list(run_text.list_titles(shown.views))
    moving = _activity(shown)
    inner = section("Source and inner loop", loop.loop(shown.loop, shown.source), note=loop.NOTE)
    # The activity is of the whole run: with several phases it stands before them, once.
    before, here = (inner, moving) if len(views) == 1 else (inner + moving, "")
    without = f'<p class="note">{escape(shown.without)}</p>' if shown.without else ""
    body = [head.head(shown.data, shown.summary), without, before]
    body += [_phase(n, title, view, shown.activity, here) for n, (title, view) in enumerate(views, 1)]
    body.append(_folded_sections(shown))
    content = f"<main>{''.join(body)}</main>"
    return document(run_text.headline(shown.data), "", content, asset("activity.js") + asset("array.js"))


def _activity(shown: Shown) -> str:
    untimed = shown.data.get("cycles", 0) is None
    told = activity.note(shown.activity, shown.notice, untimed=untimed)
    return section("Activity", activity.activity(shown.activity), note=told, key="activity")


def describe_simulation(files: Sequence[str], on: str | None, done: Simulated) -> Shown:
    """Of programs that Polyloom did not compile: figures, activity, and the text that `simulate` prints."""
    data: Mapping[str, Json] = {
        "kernel": ", ".join(PurePath(path).name for path in files),
        "parameters": None,
        "on": on,
    }
    figures = [(key.replace("_", " "), str(value)) for key, value in done.data.items() if type(value) in (int, str)]
    return Shown(
        data,
        figures,
        (),
        trace_activity(done.trace),
        done.text,
        without=_FOREIGN,
        notice=done.trace.notice,
    )


def _phase(number: int, title: str, view: Report, found: Activity | None, moving: str) -> str:
    """All that is known of one phase; `moving` is the activity's section, where there is only one phase."""
    named = f'<h2 class="part" id="phase-{number}">{escape(title)}</h2>' if title else ""
    return named + "".join(_sections(view, found, moving, number == 1))


def _sections(view: Report, found: Activity | None, moving: str, is_first: bool) -> Iterator[str]:
    """How to read a part is said once."""
    notes = (schedule.note(view), pressure.NOTE, array.NOTE) if is_first else ("", "", "")
    yield section("Bottleneck", bottleneck.bottleneck(view))
    yield section("Source and schedule" if view.operations else "Schedule", schedule.schedule(view), note=notes[0])
    full = section("Pressure", pressure.pressure(view), note=notes[1])
    drawn = (
        section("Array", array.array(view.grid, found, view.program), note=notes[2]) if view.grid is not None else ""
    )
    yield f'<div class="beside">{drawn}{full}</div>' if drawn and full else drawn + full
    yield moving
    yield from map(tables.table, view.tables)
    yield section("Lanes", lanes.lanes(view.lanes))
    yield fold_section("Control flow", flow.flows(view.flows))


def _folded_sections(shown: Shown) -> str:
    columns = "".join(f"<div><h3>after {escape(name)}</h3>{listing(run_text)}</div>" for name, run_text in shown.passes)
    passes = fold_section("Passes", f'<div class="columns">{columns}</div>') if columns else ""
    return passes + (fold_section("Listing", listing(shown.listing)) if shown.listing else "")


def listing(content: str) -> str:
    """Text as it is."""
    return f'<pre tabindex="0">{escape(content)}</pre>'
