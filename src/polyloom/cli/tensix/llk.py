# SPDX-License-Identifier: Apache-2.0
"""`polyloom llk`: its flags. What executes it takes long to load, and `--help` does not need it."""

from __future__ import annotations

from polyloom.cli import arguments as shared
from polyloom.cli import target_flags
from polyloom.cli.answer import Answer
from polyloom.cli.arguments import INPUTS, RESULTS, Parser, Request


def arguments(parser: Parser) -> None:
    help = "unpack, math and pack, in this order, or one file for all three"
    parser.add_argument("words", metavar="FILE.cpp", nargs="+", help=help)
    group = parser.group("source")
    help = "search DIR for headers: a checkout of tt-metal or tt-llk, an unpacked ttnn wheel, or a plain folder"
    group.add_argument("-I", "--include", dest="includes", metavar="DIR", action="append", default=[], help=help)
    group.add_argument("-D", dest="defines", metavar="NAME[=VALUE]", action="append", default=[], help="define a macro")
    target_flags.on_option(parser)
    target_flags.target_options(parser, "llk")
    help = "an operand in L1 from a NumPy file; FORMAT as bf16, fp16, fp32, bfp8, int32, int8"
    named = "NAME[@ADDRESS][:FORMAT]=FILE.npy"
    parser.group(INPUTS).add_argument("--in", dest="inputs", metavar=named, action="append", default=[], help=help)
    help = "write a result to a NumPy file; FILE.npy:N for N tiles"
    parser.group(RESULTS).add_argument("--out", dest="outputs", metavar=named, action="append", default=[], help=help)
    shared.output_options(parser)


def execute(options: Request) -> Answer:
    from polyloom.cli.tensix import llk_run

    return llk_run.execute(options)
