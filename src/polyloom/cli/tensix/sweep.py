# SPDX-License-Identifier: Apache-2.0
"""`polyloom sweep`: its flags. What executes it takes long to load, and `--help` does not need it."""

from __future__ import annotations

from typing import cast

from polyloom.cli import arguments as shared
from polyloom.cli import target_flags
from polyloom.cli.answer import Answer
from polyloom.cli.arguments import Parser, Request
from polyloom.targets.tensix.options import FORMATS, STRIDE


def arguments(parser: Parser) -> None:
    shared.file_operand(parser, "a vector kernel (.h, .hpp, .cpp with --function)")
    shared.parameter_operands(parser, "values of the kernel's run-time arguments")
    shared.function_options(parser)
    target_flags.on_option(parser)
    target_flags.target_options(parser, "sweep")
    help = "what results are compared with: a function of NumPy or mpmath, or module:function"
    parser.group("sweep").add_argument("--reference", metavar="NAME", help=help)
    parser.group("sweep").add_argument(
        "--against", metavar="FILE", action="append", default=[], help="compare with this kernel"
    )
    help = "the format of values and results (bf16)"
    parser.group("sweep").add_argument("--format", dest="form", choices=FORMATS, default="bf16", help=help)
    help = f"FP32: every N-th value ({STRIDE})"
    parser.group("sweep").add_argument("--stride", metavar="N", help=help)
    parser.group("sweep").add_argument("--domain", metavar="LOW:HIGH", help="only values from LOW to HIGH")
    shared.array_options(parser)
    shared.report_option(parser, ": error over the domain")


def execute(options: Request) -> Answer:
    from polyloom.cli.tensix import sweep_kernel

    return sweep_kernel.execute(cast(sweep_kernel.Sweeping, options))
