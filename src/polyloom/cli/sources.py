# SPDX-License-Identifier: Apache-2.0
"""What the verbs that read a source share: how its file is read, and the values of its parameters and scalars."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy.typing as npt

from polyloom.cli import arguments as shared
from polyloom.cli.arguments import Parser, Request
from polyloom.diagnostics import input_error
from polyloom.frontend.source import Options
from polyloom.ir.arguments import Arrays, Signature, check_parameters, scalar
from polyloom.ir.pla import Array


def operand(parser: Parser, more: str = "") -> None:
    """A file of equations or of functions, and how the latter are read."""
    shared.file_operand(parser, f"a function (.py, .c; FILE:NAME for one of several) or equations (.pla){more}")
    function_options(parser)


def function_options(parser: Parser) -> None:
    """How a file of functions is read."""
    parser.add_argument("--function", metavar="NAME", help="the function, where the file has several")
    parser.add_argument("-I", dest="includes", metavar="DIR", action="append", default=[], help="C: search DIR for headers")
    parser.add_argument("-D", dest="defines", metavar="NAME[=VALUE]", action="append", default=[], help="C: define a macro")
    parser.add_argument("--shape", dest="shapes", metavar="A=n,m", action="append", default=[], help="C: the extents of a bare pointer")
    parser.add_argument("--single-constants", action="store_true", help="C: constants without a suffix are single precision")
    parser.add_argument("--reassociate", action="store_true", help="f32 reductions may change their order")


def level_option(parser: Parser, help: str) -> None:
    """From which of clang's code SSA form is made; `level` is None where that is not said."""
    parser.add_argument("--ssa", dest="level", choices=("0", "1"), help=help)


def level_of(request: Request) -> int:
    """What `level_option` declared, 1 where it is not said."""
    return int(request.level or 1)


def refuse_level(request: Request) -> None:
    """For targets that take loops, which are not in SSA form. Errors: PL0801."""
    if request.level is not None:
        raise shared.usage_error("--ssa is for targets that run functions as they are", "leave it out, or write for instance --on riscv:rv64gc")


def options_of(request: Request) -> Options:
    """What `operand` declared."""
    return Options(request.function, tuple(request.includes), tuple(request.defines), tuple(request.shapes), request.single_constants, request.reassociate)


def values(words: Sequence[str], signature: Signature) -> tuple[dict[str, int], Arrays]:
    """`NAME=VALUE` words: every parameter, checked, and the scalars among them. Errors: PL0230, PL0232, PL0804, PL0819."""
    inputs, given, scalars = {a.name: a for a in signature.inputs}, dict[str, int](), Arrays()
    for name, text in shared.pairs(words, "parameter", "N=64").items():
        if name in signature.parameters or name not in inputs:
            given[name] = shared.integer(text, f"the parameter {name}")
        else:
            scalars[name] = _scalar(inputs[name], text)
    return check_parameters(signature, given), scalars


def _scalar(array: Array, text: str) -> npt.NDArray[Any]:
    if array.shape:
        raise input_error("PL0819", f"{array.name} is an array, '{text}' is one value", help=f"give it as a file: --in {array.name}={array.name}.npy")
    try:
        return scalar(array, float(text) if array.dtype == "f32" else int(text))
    except ValueError:
        example = "1.5" if array.dtype == "f32" else "3"
        message = f"the scalar {array.name} is '{text}', which is no value of type {array.dtype}"
        raise input_error("PL0819", message, help=f"write for instance {array.name}={example}") from None
