# SPDX-License-Identifier: Apache-2.0
"""Flags of verbs whose modules take long to load: `--help` and a malformed command load none of these modules."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from polyloom.cli import arguments as shared
from polyloom.cli import target_flags
from polyloom.cli.arguments import Parser
from polyloom.exploration.row import LEVELS, OBJECTIVES


def run(parser: Parser) -> None:
    shared.source_operand(parser)
    shared.parameter_operands(parser, "values of the parameters and of scalar inputs")
    target_flags.on_option(parser)
    shared.array_options(parser)
    shared.seed_options(parser)
    target_flags.target_options(parser, "run")
    target_flags.pass_options(parser)
    shared.output_options(parser)


def compare(parser: Parser) -> None:
    shared.source_operand(parser)
    shared.parameter_operands(parser, "values of the parameters and of scalar inputs")
    help = "places with commas between them, such as tcpa:4x4,riscv,belt:silver; may be repeated"
    parser.group(target_flags.WHERE).add_argument(
        "--on", dest="places", metavar="PLACES", action="append", default=[], help=help
    )
    shared.input_options(parser)
    target_flags.target_options(parser, "run")
    shared.report_option(parser)


def compile_(parser: Parser) -> None:
    shared.source_operand(parser)
    shared.parameter_operands(parser, "values of the parameters, for a target that compiles for each size")
    target_flags.on_option(parser)
    target_flags.target_options(parser, "compile")
    target_flags.pass_options(parser)
    shared.output_option(parser)


def check(parser: Parser) -> None:
    shared.source_operand(parser, ", or any other source: .litmus, .toml, .json, and with --on assembly and kernels")
    shared.parameter_operands(parser, "values of the parameters, for a target that compiles for each size")
    target_flags.on_option(parser)
    help = "check again after every change, until Ctrl-C"
    parser.group("check").add_argument("--watch", action="store_true", help=help)
    target_flags.target_options(parser, "compile")


def lsp(parser: Parser) -> None:
    shared.function_options(parser)
    target_flags.on_option(parser)


def asm(parser: Parser) -> None:
    shared.file_operand(parser, "assembly text in the notation of the target")
    target_flags.on_option(parser)
    target_flags.target_options(parser, "asm")
    shared.output_option(parser)


def instantiate(parser: Parser) -> None:
    shared.file_operand(parser, "a symbolic configuration (.plsc)")
    shared.parameter_operands(parser)
    target_flags.target_options(parser, "instantiate")
    shared.output_option(parser, "OUT.plcc", "the concrete configuration")


def simulate(parser: Parser) -> None:
    help = (
        "a program: a concrete configuration (.plcc), an executable, or with --on FILE@ADDRESS with raw words; "
        "several are placed together"
    )
    parser.add_argument(
        "words", metavar="FILE", nargs="*", help=f"{help}; then values of parameters and scalars, NAME=VALUE"
    )
    shared.array_options(parser)
    target_flags.on_option(parser)
    target_flags.target_options(parser, "simulate")
    help = "the source that the program was compiled from; trace and page show its lines; may be repeated"
    group = parser.group(shared.RESULTS)
    group.add_argument("--source", dest="sources", metavar="FILE", action="append", default=[], help=help)
    shared.output_options(parser)


def debug(parser: Parser) -> None:
    shared.source_operand(parser, ", or a program file of any machine", optional=True)
    shared.parameter_operands(parser, "values of the parameters and of scalar inputs")
    target_flags.on_option(parser)
    shared.input_options(parser)
    group = parser.group("debugger")
    help = "execute a command of the debugger; may be repeated; without it, commands are read from the terminal"
    group.add_argument("--command", "-x", dest="commands", metavar="COMMAND", action="append", default=[], help=help)
    help = "run beside the source, and stop at the first stored value that differs"
    group.add_argument("--until-wrong", dest="until_wrong", action="store_true", help=help)
    help = "of a program file: the source that it was compiled from; may be repeated"
    group.add_argument("--source", dest="sources", metavar="FILE", action="append", default=[], help=help)
    help = "serve GDB's remote protocol on a port of this host, for harts of RISC-V (0: any port)"
    group.add_argument("--gdb", dest="port", metavar="PORT", help=help)
    help = "a debug adapter for editors on the standard streams, or on a port of this host; FILE may come with `launch`"
    group.add_argument("--dap", metavar="PORT", nargs="?", const="", help=help)
    target_flags.target_options(parser, "run")


def show(parser: Parser) -> None:
    shared.source_operand(parser, ", or a configuration (.plsc, .plcc) or an executable (.elf)")
    shared.level_option(parser, "the function in SSA form, of C from clang's code at -O0 or -O1")
    help = "a function (.py, .c, .mlir) in MLIR: dialects func, affine, arith, math, memref"
    parser.group("source").add_argument("--as", dest="language", choices=("mlir",), help=help)
    target_flags.on_option(parser)
    target_flags.target_options(parser, "show")
    target_flags.pass_options(parser)


def verify(parser: Parser) -> None:
    shared.source_operand(parser, ", or a configuration (.plsc, .plcc) or an executable (.elf)")
    shared.parameter_operands(parser, "with --against: values of the parameters")
    target_flags.on_option(parser)
    help = "a source (.py, .c, .pla): compare the configuration with it, for all data"
    parser.add_argument("--against", dest="source", metavar="SOURCE", help=help)
    target_flags.target_options(parser, "verify")


def explore(parser: Parser) -> None:
    # Sizes are swept there, and `--set` is for keys of the machine.
    shared.source_operand(parser, sets=False)
    shared.parameter_operands(parser, "values that all points share")
    help = "targets and places, one or several: tcpa:wide,tcpa:generic"
    parser.group(target_flags.WHERE).add_argument("--on", metavar="TARGET,...", help=help)
    help = "a parameter, or an option of the target: N=16,64, N=16..256 (doubling), N=16..64+16, pes=1x1..8x8"
    parser.group("sweep").add_argument(
        "--sweep", dest="axes", metavar="NAME=VALUES", action="append", default=[], help=help
    )
    help = "a key of the machine file: fifo_depth=16,64"
    parser.group("sweep").add_argument(
        "--set", dest="settings", metavar="KEY=VALUES", action="append", default=[], help=help
    )
    parser.group("sweep").add_argument(
        "--where", metavar="CONDITION", help='only points of which it holds: "elements<=32"'
    )
    help = f"columns to be small; -COLUMN: to be large ({','.join(OBJECTIVES)})"
    parser.group("sweep").add_argument("--objective", metavar="COLUMN,...", default=",".join(OBJECTIVES), help=help)
    help = "do this for every point, instead of verifying the front alone"
    parser.group("sweep").add_argument("--level", choices=LEVELS, help=help)
    parser.group("work").add_argument("--jobs", metavar="N", default="1", help="compute in N processes (1)")
    parser.group("work").add_argument(
        "--scheduler", metavar="ADDRESS", help="compute on the workers of a Dask scheduler"
    )
    help = "keep the rows in a folder, and compute only those that it lacks"
    parser.group("work").add_argument("--resume", metavar="DIR", help=help)
    parser.group("work").add_argument("--timeout", metavar="SECONDS", help="give a point up after so long")
    parser.group(shared.INPUTS).add_argument("--seed", type=int, default=0, metavar="N", help="makes up the inputs")
    parser.group(shared.RESULTS).add_argument("--out", dest="table", metavar="FILE.csv", help="write the table")
    shared.report_option(parser)


def machines(parser: Parser) -> None:
    help = "a machine such as tcpa:unit, a target, or the name of a .toml file"
    parser.add_argument("name", metavar="NAME", nargs="?", help=help)


FLAGS: Final[Mapping[str, Callable[[Parser], None]]] = {
    "run": run,
    "compare": compare,
    "compile": compile_,
    "check": check,
    "lsp": lsp,
    "asm": asm,
    "instantiate": instantiate,
    "simulate": simulate,
    "debug": debug,
    "show": show,
    "verify": verify,
    "explore": explore,
    "machines": machines,
}
"""By verb; another verb's module has `arguments`."""
