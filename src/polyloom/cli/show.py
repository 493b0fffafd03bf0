# SPDX-License-Identifier: Apache-2.0
"""`polyloom show`: any file as text: flat equations of a program, the listing of a configuration."""

from __future__ import annotations

from polyloom import api
from polyloom.cli import arguments as shared
from polyloom.cli import files
from polyloom.cli.answer import Answer
from polyloom.cli.arguments import Parser, Request
from polyloom.ir.pla_text import print_program


def arguments(parser: Parser) -> None:
    shared.file_operand(parser, "a program (.pla) or a configuration (.plsc, .plcc)")


def execute(options: Request) -> Answer:
    if options.file.endswith(".pla"):
        program = api.read_program(options.file)
        arrays = {a.name: {"dtype": a.dtype, "shape": [str(n) for n in a.shape]} for a in (*program.inputs, *program.outputs)}
        data = {
            "kernel": program.name,
            "parameters": list(program.parameters),
            "dimensions": list(program.dimensions),
            "inputs": {a.name: arrays[a.name] for a in program.inputs},
            "outputs": {a.name: arrays[a.name] for a in program.outputs},
            "equations": [{"name": e.name, "target": e.target.name, "operation": e.operation, "dtype": e.dtype} for e in program.equations],
            "text": print_program(program),
        }
        return Answer(data, print_program(program).rstrip("\n"))
    loaded = api.decode(options.file, files.read(options.file))
    return Answer(loaded.target.as_json(loaded.data), loaded.target.show(loaded.data).rstrip("\n"))
