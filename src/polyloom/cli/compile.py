# SPDX-License-Identifier: Apache-2.0
"""`polyloom compile`: the work that is done once."""

from __future__ import annotations

from polyloom import api
from polyloom.cli import arguments as shared
from polyloom.cli import files, sources
from polyloom.cli.answer import Answer
from polyloom.cli.arguments import Parser, Request
from polyloom.cli.progress import bar
from polyloom.frontend import file_of


def arguments(parser: Parser) -> None:
    sources.operand(parser)
    shared.on_option(parser)
    parser.add_argument("--mapping", metavar="FILE", help="a mapping of your own; it is checked like any other")
    parser.add_argument("-o", dest="output", metavar="OUT.plsc", required=True, help="the symbolic configuration")


def execute(options: Request) -> Answer:
    files.check_outputs([options.output], [file_of(options.file), *([options.mapping] if options.mapping else [])])
    with bar() as progress:
        if progress is not None:
            progress("reading", 0.0)
        source = api.source_of(options.file, sources.options_of(options))
        compiled = api.compile(source, options.on or "tcpa", mapping=options.mapping, progress=progress)
    files.write({options.output: compiled.data})
    data = {
        "kernel": compiled.kernel,
        "on": compiled.on,
        "parameters": list(compiled.parameters),
        "symbolic_bytes": len(compiled.data),
        "compile_seconds": compiled.seconds,
    }
    return Answer(data, f"{options.output}: {compiled.kernel}({', '.join(compiled.parameters)}), {len(compiled.data)} bytes")
