# SPDX-License-Identifier: Apache-2.0
"""`polyloom explore`: sizes, regions and machines; all points predicted, those that matter verified."""

from __future__ import annotations

from collections import Counter

from polyloom import files
from polyloom.cli import arguments as shared
from polyloom.cli import sources
from polyloom.cli.answer import Answer
from polyloom.cli.arguments import Request, usage_error
from polyloom.cli.progress import progress_bar
from polyloom.diagnostics import INFEASIBLE, MISMATCH, Diagnostic, PolyloomError
from polyloom.exploration.entry_point import explore
from polyloom.exploration.sweep import Sweep
from polyloom.frontend import source_file


def execute(options: Request) -> Answer:
    written = [path for path in (options.table, options.report) if path]
    files.check_outputs(written, [source_file(options.file)])
    if options.seed < 0:
        raise usage_error(f"the seed is {options.seed}", "write a number from 0 on")
    with progress_bar(options.quiet) as progress:
        sweep = explore(
            options.file,
            options.on,
            sweep=options.axes,
            set=options.settings,
            where=options.where,
            objective=[name.strip() for name in options.objective.split(",")],
            level=options.level,
            jobs=shared.positive_integer(options.jobs, "--jobs"),
            scheduler=options.scheduler,
            resume=options.resume,
            seed=options.seed,
            timeout=_timeout_seconds(options.timeout),
            options=sources.reading_options(options),
            progress=progress,
            values=shared.named_values(options.words, "parameter", "N=64"),
        )
    made: dict[str, bytes] = {}
    if options.table:
        made[options.table] = sweep.csv().encode("utf-8", "backslashreplace")
    if options.report:
        made[options.report] = sweep.page().encode("utf-8", "backslashreplace")
    unwritten: tuple[Diagnostic, ...] = ()
    try:
        files.write(made)
    except PolyloomError as error:  # what was computed is printed nevertheless
        unwritten = error.diagnostics
    # By identity: equal rows may occur at several points.
    numbers = {id(row): number for number, row in enumerate(sweep.rows)}
    best = [numbers[id(row)] for row in sweep.front()] if sweep.rows else []
    data = {
        "source": sweep.title,
        "objectives": list(sweep.objectives),
        "computed": sweep.computed,
        "front": best,
        "rows": sweep.records(),
    }
    return Answer(data, sweep.report(), (*unwritten, *_findings(sweep)))


def _findings(sweep: Sweep) -> tuple[Diagnostic, ...]:
    """Findings of a sweep: a point that differs (exit 4), or no point that has a result (exit 3)."""
    wrong = [row for row in sweep.rows if row.verified is False]
    if wrong:
        message = f"{len(wrong)} of {len(sweep.rows)} points differ; the first: {wrong[0].message}"
        return (Diagnostic("PL0812", message, MISMATCH),)
    if sweep.rows and not any(row.is_ok for row in sweep.rows):
        (code, message), _ = Counter((row.code, row.message) for row in sweep.rows).most_common(1)[0]
        note = f"{code}: {message}"
        help = f"`polyloom explain {code}` says more"
        return (Diagnostic("PL1413", "no point has a result", INFEASIBLE, notes=(note,), help=help),)
    return ()


def _timeout_seconds(text: str | None) -> float | None:
    """Errors: PL0801."""
    if text is None:
        return None
    try:
        found = float(text)
    except ValueError:
        found = 0.0
    if not 0 < found < float("inf"):
        raise usage_error(f"--timeout is '{text}'", "write seconds, for instance --timeout 60")
    return found
