# SPDX-License-Identifier: Apache-2.0
"""`polyloom bench`: measure, and print the tables that the documentation shows. One module a table; times are medians."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Final

from polyloom.cli.answer import Answer, table
from polyloom.cli.arguments import Parser, Request
from polyloom.cli.bench import compilation, dominators, examples, generic, instantiation, litmus, model, modulo, polybench, riscv, scaling, sizes, ssa
from polyloom.diagnostics import input_error, nearest

Row = dict[str, object]
TABLES: Final[dict[str, Callable[[], list[Row]]]] = {
    "examples": examples.rows,
    "generic": generic.rows,
    "classes": sizes.classes,
    "sizes": sizes.sizes,
    "instantiation": instantiation.rows,
    "scaling": scaling.rows,
    "model": model.rows,
    "compile": compilation.rows,
    "modulo": modulo.rows,
    "polybench": polybench.rows,
    "dominators": dominators.rows,
    "litmus": litmus.rows,
    "riscv": riscv.rows,
    "ssa": ssa.rows,
}


def arguments(parser: Parser) -> None:
    parser.add_argument("name", metavar="NAME", nargs="?", help=f"one of {', '.join(TABLES)}; all without it")


def execute(options: Request) -> Answer:
    if options.name is not None and options.name not in TABLES:
        raise input_error("PL0817", f"there is no table '{options.name}'", help=nearest(options.name, TABLES, "table"))
    if options.name is not None:
        rows = TABLES[options.name]()
        return Answer({"rows": rows}, table(rows))
    tables = {name: _measured(name) for name in TABLES}
    data = [{"table": name, **row} for name, rows in tables.items() for row in rows]
    return Answer({"rows": data}, "\n\n".join(f"{name}\n\n{table(rows)}" for name, rows in tables.items()))


def _measured(name: str) -> list[Row]:
    if sys.stderr.isatty():
        print(f"measuring {name}", file=sys.stderr, flush=True)
    return TABLES[name]()
