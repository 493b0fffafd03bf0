# SPDX-License-Identifier: Apache-2.0
"""`polyloom bench`: the tables that the documentation shows, one module per table; times are medians."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Final

from polyloom.cli.answer import Answer, table
from polyloom.cli.arguments import Parser, Request
from polyloom.diagnostics import input_error, nearest
from polyloom.targets.entry import entries, loaded

Row = dict[str, object]
_OWN: Final[dict[str, str]] = {
    "dominators": "polyloom.cli.bench.dominators:rows",
    "modulo": "polyloom.cli.bench.modulo:rows",
    "ssa": "polyloom.cli.bench.ssa:rows",
}
"""Tables that belong to no target, by name: the function that gives the rows."""


def tables() -> dict[str, str]:
    """Every table, those of the targets first."""
    return {**{name: where for entry in entries().values() for name, where in entry.bench.items()}, **_OWN}


def _rows(name: str) -> list[Row]:
    measure: Callable[[], list[Row]] = loaded(tables()[name])
    return measure()


def arguments(parser: Parser) -> None:
    parser.add_argument("name", metavar="NAME", nargs="?", help=f"one of {', '.join(tables())}; all without it")


def execute(options: Request) -> Answer:
    if options.name is not None and options.name not in (known := tables()):
        raise input_error("PL0817", f"there is no table '{options.name}'", help=nearest(options.name, known, "table"))
    if options.name is not None:
        rows = _rows(options.name)
        return Answer({"rows": rows}, table(rows))
    measured = {name: _measured(name) for name in tables()}
    data = [{"table": name, **row} for name, rows in measured.items() for row in rows]
    return Answer({"rows": data}, "\n\n".join(f"{name}\n\n{table(rows)}" for name, rows in measured.items()))


def _measured(name: str) -> list[Row]:
    if sys.stderr.isatty():
        print(f"measuring {name}", file=sys.stderr, flush=True)
    return _rows(name)
