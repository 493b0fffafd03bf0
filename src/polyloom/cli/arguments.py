# SPDX-License-Identifier: Apache-2.0
"""Command-line parsing: the options that verbs share, and errors that say what to write."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from typing import Final, Literal, NoReturn

from polyloom.diagnostics import USAGE, Diagnostic, PolyloomError, nearest
from polyloom.names import field_name
from polyloom.targets.options import integer


class Request(argparse.Namespace):
    """Parsed options of the verbs of this folder; a verb reads those that it declared. A verb of a target has a
    subclass.
    """

    file: str
    words: list[str]
    on: str | None
    places: list[str]
    output: str
    json: bool
    quiet: bool
    color: str
    seed: int
    fill: Literal["random"] | None
    trace: str | None
    report: str | None
    inputs: list[str]
    outputs: list[str]
    name: str | None
    source: str | None
    sources: list[str]
    strategy: str
    peer: str | None
    liberty: str | None
    frontiers: bool
    language: str | None
    max_frontier: str
    post: bool
    function: str | None
    includes: list[str]
    defines: list[str]
    shapes: list[str]
    companions: list[str]
    ignore: list[str]
    values: list[str]
    single_constants: bool
    reassociate: bool
    level: str | None
    print_after: list[str]
    verify_each: bool
    solver: str
    effort: str
    axes: list[str]
    settings: list[str]
    where: str | None
    objective: str
    jobs: str
    scheduler: str | None
    resume: str | None
    table: str | None
    timeout: str | None
    commands: list[str]
    until_wrong: bool
    port: str | None
    watch: bool
    dap: str | None


Group = argparse._ArgumentGroup  # pyright: ignore[reportPrivateUsage]  # it has no public name
INPUTS, RESULTS = "inputs", "results"
"""Groups of options."""
COLORS: Final = ("auto", "always", "never")
_LACKING: Final = re.compile(r"argument (\S+): expected (?:one|at least one) argument")
# What users of other compilers try first is answered by name, not by the nearest spelling.
_OTHERS: Final = {"--target": "--on", "--machine": "--on", "--output": "-o", "--verbose": "--print-after"}
"""What other tools call an option."""


class Parser(argparse.ArgumentParser):
    """Argument parser that raises diagnostics instead of printing and leaving, and whose help groups options by what
    they are for. `chosen` are the targets whose options help shows; all, where there is none.
    """

    def __init__(self, prog: str, description: str, chosen: Sequence[str] = ()) -> None:
        super().__init__(prog=prog, description=description, allow_abbrev=False, add_help=False)
        self.chosen, self._command = tuple(chosen), prog

    def group(self, title: str) -> Group:
        """The group of options of that title."""
        return next((g for g in self._action_groups if g.title == title), None) or self.add_argument_group(title)

    def error(self, message: str) -> NoReturn:
        if lacking := _LACKING.fullmatch(message):
            flag = lacking[1].rpartition("/")[2]
            about = next(a for a in self._actions if flag in a.option_strings)
            raise usage_error(f"{flag} has no value", f"write `{flag} {about.metavar}`")
        # The shortest command that is complete is the best help where an operand is missing.
        least = f"write `{self._command}`; " if "required" in message else ""
        raise usage_error(message, f"{least}`{self.prog} --help` lists what {'else ' if least else ''}can be written")

    def _required_usage(self) -> str:
        """Command with no more than it needs."""
        needed = [(*a.option_strings[:1], str(a.metavar)) for a in self._actions if a.required and not _is_optional(a)]
        return " ".join([self.prog, *(word for words in needed for word in words)])

    def _optional_usage(self) -> str:
        """Optional rest of a line of usage."""
        operands = [a for a in self._actions if _is_optional(a)]
        shown = [f" [{a.metavar}{' ...' if a.nargs == '*' else ''}]" for a in operands]
        return "".join([*shown, " [OPTION ...]"])

    def read(self, words: Sequence[str]) -> Request:
        """Options of a command line; operands may stand before, between and after them."""
        self._command = self._required_usage()
        self.usage = f"{self._command}{self._optional_usage()}"
        # What argparse does not know is named here, with the nearest option, instead of its own message.
        options, extra = self.parse_known_intermixed_args(words, Request())
        if extra:
            known = [o for action in self._actions for o in action.option_strings if o.startswith("--")]
            is_option, flag = extra[0].startswith("-"), extra[0].partition("=")[0]
            what = f"{self.prog} takes no {'option' if is_option else 'operand'} '{extra[0]}'"
            other = _OTHERS.get(flag, "")
            if other in (o for action in self._actions for o in action.option_strings):
                raise usage_error(what, f"the option is called {other} here")
            raise usage_error(what, nearest(flag, known, "option") if is_option else f"leave out {' '.join(extra)}")
        assert isinstance(options, Request)
        return options


def _is_optional(action: argparse.Action) -> bool:
    """Whether an operand may be left out."""
    return not action.option_strings and action.nargs in ("?", "*")


def usage_error(message: str, help: str) -> PolyloomError:
    """Diagnostic of a malformed command (PL0801, exit 2)."""
    return PolyloomError(Diagnostic("PL0801", message, USAGE, help=help))


def file_operand(parser: Parser, help: str, *, optional: bool = False) -> None:
    # argparse asks for a file by itself where it must be there.
    if optional:
        parser.add_argument("file", metavar="FILE", nargs="?", default="", help=help)
    else:
        parser.add_argument("file", metavar="FILE", help=help)


def source_operand(parser: Parser, more: str = "", *, sets: bool = True, optional: bool = False) -> None:
    """A file of equations or of functions, and how the latter are read; `sets`: with `--set` for its arguments."""
    file_operand(
        parser,
        f"a function (.py, .c; FILE:NAME for one of several), equations (.pla) or a model (.onnx){more}",
        optional=optional,
    )
    function_options(parser, sets=sets)


def function_options(parser: Parser, *, sets: bool = True) -> None:
    """How a file of functions is read."""
    group = parser.group("source")
    group.add_argument("--function", metavar="NAME", help="the function, where the file has several")
    group.add_argument(
        "-I", dest="includes", metavar="DIR", action="append", default=[], help="C: search DIR for headers"
    )
    group.add_argument(
        "-D", dest="defines", metavar="NAME[=VALUE]", action="append", default=[], help="C: define a macro"
    )
    group.add_argument(
        "--shape", dest="shapes", metavar="A=n,m", action="append", default=[], help="C: the extents of a bare pointer"
    )
    group.add_argument(
        "--with",
        dest="companions",
        metavar="FILE",
        action="append",
        default=[],
        help="C: a file with functions that are called",
    )
    group.add_argument(
        "--ignore",
        metavar="NAME,...",
        action="append",
        default=[],
        help="C: leave out calls of these functions, such as timers and printf, and loops over these variables",
    )
    parser.set_defaults(values=[])
    if sets:
        help = (
            "C: an integer argument has this value alone, so that it may be a step or a stride: p->taps=8; ONNX: so "
            "has a size, or an input that gives a shape: axes=0,1"
        )
        group.add_argument("--set", dest="values", metavar="NAME=VALUE", action="append", help=help)
    help = "ONNX: a file beside the model with its data; no other is opened"
    group.add_argument("--data", metavar="FILE", action="append", default=[], help=help)
    group.add_argument(
        "--single-constants", action="store_true", help="C: constants without a suffix are single precision"
    )
    # Sums of floats are not associative (IEEE 754-2008): changing their order needs the user's word.
    group.add_argument("--reassociate", action="store_true", help="f32 reductions may change their order")


def level_option(parser: Parser, help: str) -> None:
    """From which of clang's code SSA form is made; `level` is None where that is not said."""
    parser.group("source").add_argument("--ssa", dest="level", choices=("0", "1"), help=help)


def parameter_operands(parser: Parser, what: str = "values of the parameters") -> None:
    parser.add_argument("words", metavar="NAME=VALUE", nargs="*", help=what)


def array_options(parser: Parser) -> None:
    _input_option(parser)
    parser.group(RESULTS).add_argument(
        "--out",
        dest="outputs",
        metavar="NAME=FILE.npy",
        action="append",
        default=[],
        help="write an output to a NumPy file",
    )


def _input_option(parser: Parser) -> None:
    parser.group(INPUTS).add_argument(
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
    parser.group(INPUTS).add_argument("--seed", type=int, default=0, metavar="N", help=help)
    help = "make up the arrays that are not given even where others are"
    parser.group(INPUTS).add_argument("--fill", choices=("random",), help=help)


def input_options(parser: Parser) -> None:
    """Given inputs, and made-up ones."""
    _input_option(parser)
    seed_options(parser)


def output_options(parser: Parser) -> None:
    parser.group(RESULTS).add_argument(
        "--trace", metavar="FILE", help="write what happened when, as .json, .json.gz or .pftrace (Perfetto), or .vcd"
    )
    report_option(parser)


def report_option(parser: Parser, what: str = "") -> None:
    parser.group(RESULTS).add_argument("--report", metavar="FILE.html", help=f"write one self-contained page{what}")


def output_option(parser: Parser, metavar: str = "OUT", help: str = "the file that is written") -> None:
    parser.group(RESULTS).add_argument("-o", dest="output", metavar=metavar, required=True, help=help)


def general_options(parser: Parser) -> None:
    """Those of every verb."""
    group = parser.group("general")
    group.add_argument("-h", "--help", action="help", help="show this help message and exit")
    group.add_argument("--json", action="store_true", help="print JSON")
    group.add_argument("-q", "--quiet", action="store_true", help="print errors alone")
    help = "color of messages: always, never, or auto: on a terminal, unless NO_COLOR is set"
    group.add_argument("--color", choices=COLORS, default="auto", help=help)


def check_seed(seed: int) -> None:
    """Errors: PL0801."""
    if seed < 0:
        raise usage_error(f"the seed is {seed}", "write a number from 0 on")


def positive_integer(text: str, option: str) -> int:
    """The value of an option, 1 or more. Errors: PL0801, PL0804."""
    found = integer(text, option)
    if found < 1:
        raise usage_error(f"{option} is less than 1", "give a positive integer")
    return found


def parameter_values(words: Sequence[str]) -> dict[str, int]:
    """Values of `NAME=VALUE` words; names and ranges are checked against the program later."""
    return {
        name: integer(text, f"the parameter {name}") for name, text in named_values(words, "parameter", "N=64").items()
    }


def file_bindings(words: Sequence[str], option: str) -> dict[str, str]:
    """`NAME=FILE` values of `--in` and `--out`."""
    return named_values(words, option, f"{option} x=x.npy")


def named_values(words: Sequence[str], what: str, example: str) -> dict[str, str]:
    """Texts of `NAME=TEXT` words; what they give is called `what` in messages. A field of a structure may be named as
    C does, `S->taps`. Errors: PL0801.
    """
    found: dict[str, str] = {}
    for word in words:
        name, equals, text = word.partition("=")
        name = field_name(name)
        if not equals or not name or not text:
            raise usage_error(
                f"'{word}' gives no {what}", f"write a name, an equals sign and a value, for instance {example}"
            )
        # A second value would silently win otherwise.
        if name in found:
            raise usage_error(f"{what} {name} is given twice", f"give {name} once")
        found[name] = text
    return found
