# SPDX-License-Identifier: Apache-2.0
"""`polyloom bench`: the tables that the documentation shows, one module per table; times are medians."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from inspect import signature
from typing import Final

from polyloom.cli.answer import Answer
from polyloom.cli.arguments import Parser, Request, usage_error
from polyloom.cli.progress import Line, status_line
from polyloom.diagnostics import input_error, nearest
from polyloom.report.markdown import stream_table
from polyloom.targets.entry import entries, load_named

Row = dict[str, object]
_OWN: Final[dict[str, str]] = {
    "account": "polyloom.cli.bench.account_cost:rows",
    "comparison": "polyloom.cli.bench.comparison:rows",
    "debug": "polyloom.cli.bench.debugger:rows",
    "dominators": "polyloom.cli.bench.dominators:rows",
    "editor": "polyloom.cli.bench.editor:rows",
    "modulo": "polyloom.cli.bench.modulo:rows",
    "explore": "polyloom.cli.bench.explore:rows",
    "ssa": "polyloom.cli.bench.ssa:rows",
    "start": "polyloom.cli.bench.start:rows",
    "transformer": "polyloom.cli.bench.comparison:layer_rows",
}
"""Tables that belong to no target, by name: the function that gives the rows."""


def tables() -> dict[str, str]:
    """Every table, those of the targets first."""
    return {**{name: where for entry in entries().values() for name, where in entry.bench.items()}, **_OWN}


_OPTIONS: Final = {"peer": "is compared with no emulator", "liberty": "counts no cells of circuits"}
"""Options of single tables, and what is true of the others."""


_ALONE: Final = frozenset(("clock",))
"""Tables that are measured only by name: they take a quarter of an hour, and a tool that no other one needs."""


def _table_rows(name: str, given: Mapping[str, str]) -> Iterable[Row]:
    """Rows of a table. Errors: PL0801 for an option that it does not have."""
    for option in given:
        if not _takes_option(name, option):
            names = " and ".join(n for n in tables() if _takes_option(n, option))
            raise usage_error(f"the table {name} {_OPTIONS[option]}", f"leave --{option} out, or name {names}")
    measure: Callable[..., Iterable[Row]] = load_named(tables()[name])
    return measure(**given)


def _takes_option(name: str, option: str) -> bool:
    return option in signature(load_named(tables()[name])).parameters


def arguments(parser: Parser) -> None:
    parser.add_argument(
        "name", metavar="NAME", nargs="?", help=f"one of {', '.join(tables())}; all but clock without it"
    )
    parser.add_argument("--peer", metavar="PATH", help="minion: the vendor's emulator, which runs the same programs")
    help = "rtl: a library of cells in the Liberty format, in which areas are then given"
    parser.add_argument("--liberty", metavar="FILE", help=help)


def execute(options: Request) -> Answer:
    if options.name is not None and options.name not in (known := tables()):
        raise input_error("PL0817", f"there is no table '{options.name}'", help=nearest(options.name, known, "table"))
    given = {name: value for name in _OPTIONS if (value := getattr(options, name)) is not None}
    if options.name is None and given:
        option = next(iter(given))
        name = next(n for n in tables() if _takes_option(n, option))
        raise usage_error(f"--{option} is of one table", f"write `polyloom bench {name} --{option} PATH`")
    names = [options.name] if options.name is not None else [n for n in tables() if n not in _ALONE]
    measured = {name: _table_rows(name, given) for name in names}
    if options.json:
        with status_line(options.quiet) as shown:
            return Answer({"rows": list(_all_rows(measured, shown))})
    return Answer(None, streamed=_table_lines(measured, options.quiet))


def _all_rows(measured: Mapping[str, Iterable[Row]], shown: Line) -> Iterator[Row]:
    """Rows of all tables; of several, each row has the name of its own."""
    for name, rows in measured.items():
        head: Row = {"table": name} if len(measured) > 1 else {}
        yield from ({**head, **row} for row in _with_status(name, rows, shown))


def _table_lines(measured: Mapping[str, Iterable[Row]], is_quiet: bool) -> Iterator[str]:
    """Lines of all tables, each as soon as it is known."""
    with status_line(is_quiet) as shown:
        for number, (name, rows) in enumerate(measured.items()):
            if len(measured) > 1:
                yield "\n" * (number > 0) + f"{name}\n"
            yield from stream_table(_with_status(name, rows, shown))


def _with_status(name: str, rows: Iterable[Row], shown: Line) -> Iterator[Row]:
    """Rows of a table; while one is measured, `shown` tells which."""
    # Rows are measured as they are asked for: an interrupted run has printed those before.
    made, number = iter(rows), 0
    while True:
        number += 1
        shown(f"measuring {name}, row {number}")
        row = next(made, None)
        shown("")
        if row is None:
            return
        yield row
