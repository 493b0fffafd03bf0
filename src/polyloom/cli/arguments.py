# SPDX-License-Identifier: Apache-2.0
"""Reading a command line: the options that verbs share, and errors that say what to write."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Literal, NoReturn

from polyloom.diagnostics import USAGE, Diagnostic, PolyloomError, nearest
from polyloom.targets.options import integer


class Request(argparse.Namespace):
    """The options of every verb; a verb reads those that it declared."""

    file: str
    words: list[str]
    on: str | None
    places: list[str]
    pes: str
    output: str
    json: bool
    seed: int
    fill: Literal["random"] | None
    trace: str | None
    report: str | None
    inputs: list[str]
    outputs: list[str]
    name: str | None
    expression: str
    isa: str
    short_branches: bool
    files: list[str]
    max_executions: str
    against: list[str]
    source: str | None
    sources: list[str]
    strategy: str
    peer: str | None
    frontiers: bool
    max_frontier: str
    post: bool
    function: str | None
    includes: list[str]
    defines: list[str]
    shapes: list[str]
    single_constants: bool
    reassociate: bool
    level: str | None
    print_after: list[str]
    verify_each: bool
    ordering: Literal["branch", "fence"] | None
    emit: bool
    solver: str
    effort: str
    reference: str | None
    stride: str | None
    domain: str | None
    form: str
    as_form: str | None
    axes: list[str]
    settings: list[str]
    where: str | None
    objective: str
    jobs: str
    scheduler: str | None
    resume: str | None
    table: str | None
    timeout: str | None


class Parser(argparse.ArgumentParser):
    """An argument parser that raises diagnostics instead of printing and leaving."""

    def __init__(self, prog: str, description: str) -> None:
        super().__init__(prog=prog, description=description, allow_abbrev=False)

    def error(self, message: str) -> NoReturn:
        least = f"write `{self._least()}`; " if "required" in message else ""
        raise usage_error(message, f"{least}`{self.prog} --help` lists what {'else ' if least else ''}can be written")

    def _least(self) -> str:
        """The command with no more than it needs."""
        needed = [(*a.option_strings[:1], str(a.metavar)) for a in self._actions if a.required]
        return " ".join([self.prog, *(word for words in needed for word in words)])

    def read(self, words: Sequence[str]) -> Request:
        """The options; operands may stand before, between and after them."""
        options, extra = self.parse_known_intermixed_args(words, Request())
        if extra:
            known = [o for action in self._actions for o in action.option_strings if o.startswith("--")]
            what = f"{self.prog} takes no {'option' if extra[0].startswith('-') else 'operand'} '{extra[0]}'"
            raise usage_error(
                what,
                nearest(extra[0].partition("=")[0], known, "option")
                if extra[0].startswith("-")
                else f"leave out {' '.join(extra)}",
            )
        assert isinstance(options, Request)
        return options


def usage_error(message: str, help: str) -> PolyloomError:
    """The command itself is malformed (exit 2)."""
    return PolyloomError(Diagnostic("PL0801", message, USAGE, help=help))


def file_operand(parser: Parser, help: str) -> None:
    parser.add_argument("file", metavar="FILE", help=help)


def source_operand(parser: Parser, more: str = "") -> None:
    """A file of equations or of functions, and how the latter are read."""
    file_operand(parser, f"a function (.py, .c; FILE:NAME for one of several) or equations (.pla){more}")
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


def parameter_operands(parser: Parser, what: str = "values of the parameters") -> None:
    parser.add_argument("words", metavar="NAME=VALUE", nargs="*", help=what)


def array_options(parser: Parser) -> None:
    _input_option(parser)
    parser.add_argument(
        "--out",
        dest="outputs",
        metavar="NAME=FILE.npy",
        action="append",
        default=[],
        help="write an output to a NumPy file",
    )


def _input_option(parser: Parser) -> None:
    parser.add_argument(
        "--in",
        dest="inputs",
        metavar="NAME=FILE.npy",
        action="append",
        default=[],
        help="take an input from a NumPy file",
    )


def seed_options(parser: Parser) -> None:
    """What is made up of the inputs."""
    help = "makes up inputs: scalars that are not given, and arrays where none is given"
    parser.add_argument("--seed", type=int, default=0, metavar="N", help=help)
    help = "make up the arrays that are not given even where others are"
    parser.add_argument("--fill", choices=("random",), help=help)


def input_options(parser: Parser) -> None:
    """Given inputs, and made-up ones."""
    _input_option(parser)
    seed_options(parser)


def output_options(parser: Parser) -> None:
    parser.add_argument(
        "--trace", metavar="FILE", help="write what happened when, as .json or .json.gz (Perfetto), or .vcd"
    )
    parser.add_argument("--report", metavar="FILE.html", help="write one self-contained page")


def check_seed(seed: int) -> None:
    """Errors: PL0801."""
    if seed < 0:
        raise usage_error(f"the seed is {seed}", "write a number from 0 on")


def positive(text: str, option: str) -> int:
    """The value of an option, 1 or more. Errors: PL0801, PL0804."""
    found = integer(text, option)
    if found < 1:
        raise usage_error(f"{option} is less than 1", "give a positive integer")
    return found


def parameters(words: Sequence[str]) -> dict[str, int]:
    """`NAME=VALUE` words; names and ranges are checked against the program later."""
    return {name: integer(text, f"the parameter {name}") for name, text in pairs(words, "parameter", "N=64").items()}


def bindings(words: Sequence[str], option: str) -> dict[str, str]:
    """`NAME=FILE` values of `--in` and `--out`."""
    return pairs(words, option, f"{option} x=x.npy")


def pairs(words: Sequence[str], what: str, example: str) -> dict[str, str]:
    """`NAME=TEXT` words; what they give is called `what` in messages. Errors: PL0801."""
    found: dict[str, str] = {}
    for word in words:
        name, equals, text = word.partition("=")
        if not equals or not name or not text:
            raise usage_error(
                f"'{word}' gives no {what}", f"write a name, an equals sign and a value, for instance {example}"
            )
        if name in found:
            raise usage_error(f"{what} {name} is given twice", f"give {name} once")
        found[name] = text
    return found
