# SPDX-License-Identifier: Apache-2.0
"""HTML page of a run (docs/report.md), one file without a network, with the same sections in the same order for every
target: result, account of cycles, source and schedule, resources and pressure, activity, memory, files. Of several
phases each has a schedule and resources of its own.

This is the page's table of contents: each section is made by the file of its name in `parts`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import PurePath
from typing import Final

from polyloom.report import run_text
from polyloom.report.page.document import asset, document, fold_section, section
from polyloom.report.parts import account, activity, array, bound, flow, head, lanes, loop, pressure, schedule, tables
from polyloom.targets.account import Account
from polyloom.targets.activity import Activity
from polyloom.targets.costs import Line
from polyloom.targets.report import Report, Table
from polyloom.targets.target import Json, Simulated
from polyloom.targets.trace import trace_activity

_FOREIGN: Final = "The program was not compiled here, so that there is no source to show, and nothing to compare with."


@dataclass(frozen=True, slots=True)
class Shown:
    """What there is to show: `data` is what `run --json` prints, `summary` the rows that a reader wants first, with a
    view for each phase; `passes` are the forms between passes, name and text; `loop` is the inner loop of a machine
    that has no schedule, `source` the file that it comes from, name and text; `without` says why no source is shown,
    `notice` what the activity lacks; `account` is that of the cycles, where there is one, and `tables` are
    those of a machine without views."""

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
    account: Account | None = None
    tables: Sequence[Table] = ()


def page(shown: Shown) -> str:
    """The whole file."""
    views = list(run_text.list_titles(shown.views))
    without = f'<p class="note">{escape(shown.without)}</p>' if shown.without else ""
    body = [head.head(shown.data, shown.summary), without]
    body.append(section("Account", account.account(shown.account, shown.source), key="account"))
    body.append(section("Source and inner loop", loop.loop(shown.loop, shown.source), note=loop.NOTE))
    body += [_phase(n, title, view, shown.activity) for n, (title, view) in enumerate(views, 1)]
    body.append(section("Resources and pressure", _list_tables(shown.tables, "resources")))
    body += [_activity(shown), _memory(shown), _files(shown)]
    content = f"<main>{''.join(body)}</main>"
    return document(run_text.headline(shown.data), "", content, asset("activity.js") + asset("array.js"))


def _activity(shown: Shown) -> str:
    untimed = shown.data.get("cycles", 0) is None
    told = activity.note(shown.activity, shown.notice, untimed=untimed)
    return section("Activity", activity.activity(shown.activity), note=told, key="activity")


def _memory(shown: Shown) -> str:
    """Tables about memory, of all phases."""
    found = [*(table for view in shown.views for table in view.tables), *shown.tables]
    return section("Memory", _list_tables(found, "memory"), key="memory")


def _list_tables(given: Sequence[Table], about: str) -> str:
    return "".join(tables.table_section(table) for table in given if table.about == about)


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


def _phase(number: int, title: str, view: Report, found: Activity | None) -> str:
    """What belongs to one phase: its schedule, and what it takes of the machine."""
    named = f'<h2 class="part" id="phase-{number}">{escape(title)}</h2>' if title else ""
    # How to read a part is said once.
    notes = (schedule.note(view), _resources_note(view)) if number == 1 else ("", "")
    drawn = schedule.schedule(view) + bound.bound(view)
    shown = section("Source and schedule" if view.operations else "Schedule", drawn, note=notes[0])
    return named + shown + section("Resources and pressure", _resources(view, found), note=notes[1])


def _resources_note(view: Report) -> str:
    return " ".join(filter(None, (pressure.NOTE if view.pressure else "", array.NOTE if view.grid else "")))


def _resources(view: Report, found: Activity | None) -> str:
    full = pressure.pressure(view)
    drawn = array.array(view.grid, found, view.program) if view.grid is not None else ""
    beside = f'<div class="beside"><div>{drawn}</div><div>{full}</div></div>' if drawn and full else drawn + full
    return beside + _list_tables(view.tables, "resources") + lanes.lanes(view.lanes)


def _files(shown: Shown) -> str:
    """What most readers do not need, folded: control flow, forms between passes, the listing."""
    drawn = "".join(flow.flows(view.flows) for view in shown.views)
    columns = "".join(f"<div><h3>after {escape(name)}</h3>{listing(text)}</div>" for name, text in shown.passes)
    passes = fold_section("Passes", f'<div class="columns">{columns}</div>') if columns else ""
    listed = fold_section("Listing", listing(shown.listing)) if shown.listing else ""
    return section("Files", fold_section("Control flow", drawn) + passes + listed, key="files")


def listing(content: str) -> str:
    """Text as it is."""
    return f'<pre tabindex="0">{escape(content)}</pre>'
