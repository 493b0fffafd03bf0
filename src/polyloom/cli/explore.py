# SPDX-License-Identifier: Apache-2.0
"""`polyloom explore`: sizes, regions and machines; all points predicted, those that matter verified."""

from __future__ import annotations

from collections import Counter

from polyloom import files
from polyloom.cli import arguments as shared
from polyloom.cli import sources
from polyloom.cli.answer import Answer
from polyloom.cli.arguments import Parser, Request, usage_error
from polyloom.cli.progress import bar
from polyloom.diagnostics import INFEASIBLE, MISMATCH, Diagnostic, PolyloomError
from polyloom.exploration import Sweep, explore
from polyloom.exploration.request import OBJECTIVES
from polyloom.exploration.row import LEVELS
from polyloom.frontend import file_of


def arguments(parser: Parser) -> None:
    sources.operand(parser)
    shared.parameter_operands(parser, "values that all points share")
    help = "targets and places, one or several: tcpa:wide,tcpa:generic"
    parser.add_argument("--on", metavar="TARGET,...", help=help)
    help = "a parameter, or an option of the target: N=16,64, N=16..256 (doubling), N=16..64+16, pes=1x1..8x8"
    parser.add_argument("--sweep", dest="axes", metavar="NAME=VALUES", action="append", default=[], help=help)
    help = "a key of the machine file: fifo_depth=16,64"
    parser.add_argument("--set", dest="settings", metavar="KEY=VALUES", action="append", default=[], help=help)
    parser.add_argument("--where", metavar="CONDITION", help='only points of which it holds: "elements<=32"')
    help = f"columns to be small; -COLUMN: to be large ({','.join(OBJECTIVES)})"
    parser.add_argument("--objective", metavar="COLUMN,...", default=",".join(OBJECTIVES), help=help)
    help = "do this for every point, instead of verifying the front alone"
    parser.add_argument("--level", choices=LEVELS, help=help)
    parser.add_argument("--jobs", metavar="N", default="1", help="compute in N processes (1)")
    parser.add_argument("--scheduler", metavar="ADDRESS", help="compute on the workers of a Dask scheduler")
    help = "keep the rows in a folder, and compute only those that it lacks"
    parser.add_argument("--resume", metavar="DIR", help=help)
    parser.add_argument("--timeout", metavar="SECONDS", help="give a point up after so long")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="makes up the inputs")
    parser.add_argument("--out", dest="table", metavar="FILE.csv", help="write the table")
    parser.add_argument("--report", metavar="FILE.html", help="write one self-contained page")


def execute(options: Request) -> Answer:
    written = [path for path in (options.table, options.report) if path]
    files.check_outputs(written, [file_of(options.file)])
    if options.seed < 0:
        raise usage_error(f"the seed is {options.seed}", "write a number from 0 on")
    with bar() as progress:
        sweep = explore(
            options.file,
            options.on,
            sweep=options.axes,
            set=options.settings,
            where=options.where,
            objective=[name.strip() for name in options.objective.split(",")],
            level=options.level,
            jobs=shared.positive(options.jobs, "--jobs"),
            scheduler=options.scheduler,
            resume=options.resume,
            seed=options.seed,
            timeout=_seconds(options.timeout),
            options=sources.options_of(options),
            progress=progress,
            values=shared.pairs(options.words, "parameter", "N=64"),
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
    """A row that differs, or no row at all that has a result."""
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


def _seconds(text: str | None) -> float | None:
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
