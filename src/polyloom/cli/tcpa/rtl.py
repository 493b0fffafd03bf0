# SPDX-License-Identifier: Apache-2.0
"""`polyloom rtl`: a machine's array as Verilog (docs/rtl.md)."""

from __future__ import annotations

from polyloom import files
from polyloom.cli.answer import Answer
from polyloom.cli.arguments import RESULTS, Parser, Request


class Options(Request):
    machine: str
    array: str


def arguments(parser: Parser) -> None:
    parser.add_argument("machine", metavar="MACHINE.toml", help="a machine of the array, by file or name")
    parser.add_argument("--array", metavar="RxC", default="4x4", help="rows and columns (4x4)")
    help = "the folder of the Verilog, which is made if it does not exist"
    parser.group(RESULTS).add_argument("-o", dest="output", metavar="DIR", required=True, help=help)


def execute(options: Options) -> Answer:
    # Loaded here: `--help` needs nothing of them.
    from polyloom.targets.tcpa import machine_file
    from polyloom.targets.tcpa.place import parse_region
    from polyloom.targets.tcpa.rtl.circuit import build_circuit, check_circuit, check_region
    from polyloom.targets.tcpa.rtl.verilog_files import TOP, verilog_files

    machine = machine_file.load(options.machine)
    table = machine_file.find_table(options.machine)
    check_circuit(machine, table)
    rows, columns = parse_region(options.array)
    check_region(machine, rows, columns, table)
    texts = verilog_files(build_circuit(machine, rows, columns))
    files.make_folder(options.output)
    made = {f"{options.output}/{name}": text.encode() for name, text in texts.items()}
    files.write(made)
    lines = sum(text.count("\n") for text in texts.values())
    data = {"machine": machine.name, "rows": rows, "columns": columns, "top": TOP, "files": list(made), "lines": lines}
    return Answer(data, f"{options.output}: {len(made)} files, {lines} lines of Verilog, top module {TOP}")
