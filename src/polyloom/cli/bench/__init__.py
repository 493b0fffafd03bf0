# SPDX-License-Identifier: Apache-2.0
"""`polyloom bench`: the tables that the documentation shows, one module per table; times are medians."""

from __future__ import annotations

import sys
from collections.abc import Callable
from inspect import signature
from typing import Final

from polyloom.cli.answer import Answer, table
from polyloom.cli.arguments import Parser, Request, usage_error
from polyloom.diagnostics import input_error, nearest
from polyloom.targets.entry import entries, loaded

Row = dict[str, object]
_OWN: Final[dict[str, str]] = {
    "comparison": "polyloom.cli.bench.comparison:rows",
    "dominators": "polyloom.cli.bench.dominators:rows",
    "modulo": "polyloom.cli.bench.modulo:rows",
    "explore": "polyloom.cli.bench.explore:rows",
    "ssa": "polyloom.cli.bench.ssa:rows",
    "start": "polyloom.cli.bench.start:rows",
}
"""Tables that belong to no target, by name: the function that gives the rows."""


def tables() -> dict[str, str]:
    """Every table, those of the targets first."""
    return {**{name: where for entry in entries().values() for name, where in entry.bench.items()}, **_OWN}


def _rows(name: str) -> list[Row]:
    measure: Callable[[], list[Row]] = loaded(tables()[name])
    return measure()


def _rows_beside(name: str, peer: str) -> list[Row]:
    """Errors: PL0801 for a table that compares with no emulator."""
    measure: Callable[..., list[Row]] = loaded(tables()[name])
    if not _takes_peer(name):
        names = " and ".join(filter(_takes_peer, tables()))
        raise usage_error(f"the table {name} is compared with no emulator", f"leave --peer out, or name {names}")
    return measure(peer=peer)


def _takes_peer(name: str) -> bool:
    return "peer" in signature(loaded(tables()[name])).parameters


def arguments(parser: Parser) -> None:
    parser.add_argument("name", metavar="NAME", nargs="?", help=f"one of {', '.join(tables())}; all without it")
    parser.add_argument("--peer", metavar="PATH", help="minion: the vendor's emulator, which runs the same programs")


def execute(options: Request) -> Answer:
    if options.name is not None and options.name not in (known := tables()):
        raise input_error("PL0817", f"there is no table '{options.name}'", help=nearest(options.name, known, "table"))
    if options.name is not None:
        rows = _rows(options.name) if options.peer is None else _rows_beside(options.name, options.peer)
        return Answer({"rows": rows}, table(rows))
    if options.peer is not None:
        raise usage_error("--peer is of one table", "write `polyloom bench minion --peer PATH`")
    measured = {name: _measured(name) for name in tables()}
    data = [{"table": name, **row} for name, rows in measured.items() for row in rows]
    return Answer({"rows": data}, "\n\n".join(f"{name}\n\n{table(rows)}" for name, rows in measured.items()))


def _measured(name: str) -> list[Row]:
    if sys.stderr.isatty():
        print(f"measuring {name}", file=sys.stderr, flush=True)
    return _rows(name)
