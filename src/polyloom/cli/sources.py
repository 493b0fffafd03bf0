# SPDX-License-Identifier: Apache-2.0
"""What the verbs that read a source share: how its file is read, and the values of its parameters and scalars."""

from __future__ import annotations

from collections.abc import Mapping

from polyloom.cli import arguments as shared
from polyloom.cli.arguments import Parser, Request
from polyloom.frontend.source import Options
from polyloom.ir.signature import Signature
from polyloom.run import inputs


def operand(parser: Parser, more: str = "") -> None:
    """A file of equations or of functions, and how the latter are read."""
    shared.file_operand(parser, f"a function (.py, .c; FILE:NAME for one of several) or equations (.pla){more}")
    function_options(parser)


def function_options(parser: Parser) -> None:
    """How a file of functions is read."""
    parser.add_argument("--function", metavar="NAME", help="the function, where the file has several")
    parser.add_argument(
        "-I", dest="includes", metavar="DIR", action="append", default=[], help="C: search DIR for headers"
    )
    parser.add_argument(
        "-D", dest="defines", metavar="NAME[=VALUE]", action="append", default=[], help="C: define a macro"
    )
    parser.add_argument(
        "--shape", dest="shapes", metavar="A=n,m", action="append", default=[], help="C: the extents of a bare pointer"
    )
    parser.add_argument(
        "--single-constants", action="store_true", help="C: constants without a suffix are single precision"
    )
    parser.add_argument("--reassociate", action="store_true", help="f32 reductions may change their order")


def level_option(parser: Parser, help: str) -> None:
    """From which of clang's code SSA form is made; `level` is None where that is not said."""
    parser.add_argument("--ssa", dest="level", choices=("0", "1"), help=help)


def level_of(request: Request) -> int:
    """What `level_option` declared, 1 where it is not said."""
    return int(request.level or 1)


def options_of(request: Request) -> Options:
    """What `operand` declared."""
    return Options(
        request.function,
        tuple(request.includes),
        tuple(request.defines),
        tuple(request.shapes),
        request.single_constants,
        request.reassociate,
    )


def values(words: Mapping[str, str], signature: Signature) -> tuple[dict[str, int], dict[str, str]]:
    """Parameters that are no arguments, and texts of scalars, both checked. Errors: PL0230, PL0232, PL0804, PL0819."""
    checked, scalars = inputs.values(signature, words)
    own = {name: value for name, value in checked.items() if signature.argument(name) is None}
    return own, {name: words[name] for name in scalars}
