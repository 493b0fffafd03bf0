# SPDX-License-Identifier: Apache-2.0
"""`polyloom select`: the shortest RISC-V instructions for an expression such as `c ? a : -b` (Granlund and Kenner
1992).
"""

from __future__ import annotations

from polyloom.cli.answer import Answer
from polyloom.cli.arguments import Parser, Request
from polyloom.riscv import names
from polyloom.riscv.selects import short_branch
from polyloom.riscv.selects.notation import parse_expression
from polyloom.riscv.selects.select import Selection, select_expression


class Selecting(Request):
    """The options of `select`."""

    expression: str
    isa: str
    short_branches: bool


def arguments(parser: Parser) -> None:
    parser.add_argument(
        "expression",
        metavar="EXPR",
        help="C's operators over names; s is 0 or 1, <u is unsigned, min(a, b), abs(a), ...",
    )
    parser.add_argument("--isa", default="rv64gc", help="such as rv64gc_zicond_zbb")
    parser.add_argument(
        "--short-branches", action="store_true", help="the core makes a branch over one instruction cheap"
    )


def execute(options: Selecting) -> Answer:
    isa, expression = names.parse_isa(options.isa), parse_expression(options.expression)
    found = (
        # The tuning may come from the option or from the name of the instruction set (+sfb).
        short_branch.expand_pairs(expression, isa)
        if options.short_branches or isa.short_branches
        else select_expression(expression, isa)
    )
    data = {
        "expression": options.expression,
        "isa": str(isa),
        "sequence": [str(line) for line in found.lines],
        "length": found.length,
        "proved_minimal": found.proved_minimal,
        "searched": found.searched,
    }
    return Answer(data, "\n".join([*(f"    {line}" for line in found.lines), _length_text(found)]))


def _length_text(found: Selection) -> str:
    count = f"{found.length} instruction{'s' * (found.length != 1)}"
    if found.proved_minimal:
        return f"{count}: none shorter exists"
    return f"{count}: " + (
        "shorter ones were not searched for" if found.searched is None else f"none of up to {found.searched} exists"
    )
