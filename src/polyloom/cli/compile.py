# SPDX-License-Identifier: Apache-2.0
"""`polyloom compile`: the work that is done once."""

from __future__ import annotations

from polyloom import api, files, functions
from polyloom.cli import arguments as shared
from polyloom.cli import sources
from polyloom.cli.answer import Answer
from polyloom.cli.arguments import Parser, Request
from polyloom.cli.progress import bar
from polyloom.frontend import file_of
from polyloom.targets.registry import FunctionTarget, function_target


def arguments(parser: Parser) -> None:
    sources.operand(parser)
    shared.on_option(parser)
    shared.mapping_option(parser)
    sources.level_option(parser, "for riscv: the function in SSA form, from clang's code at -O0 or -O1 (1)")
    parser.add_argument("-o", dest="output", metavar="OUT", required=True, help="the symbolic configuration, or an ELF executable for riscv")


def execute(options: Request) -> Answer:
    mapping = shared.choice(options.mapping, "--mapping")
    files.check_outputs([options.output], [file_of(options.file), *shared.mapping_files(mapping)])
    if (chosen := function_target(options.on or "tcpa")) is not None:
        return _function(options, *chosen)
    sources.refuse_level(options)
    with bar() as progress:
        if progress is not None:
            progress("reading", 0.0)
        source = api.source_of(options.file, sources.options_of(options))
        compiled = api.compile(source, options.on or "tcpa", mapping=mapping, progress=progress)
    files.write({options.output: compiled.data})
    data = {
        "kernel": compiled.kernel,
        "on": compiled.on,
        "parameters": list(compiled.parameters),
        "symbolic_bytes": len(compiled.data),
        "compile_seconds": compiled.seconds,
    }
    return Answer(data, f"{options.output}: {compiled.kernel}({', '.join(compiled.parameters)}), {len(compiled.data)} bytes")


def _function(options: Request, target: FunctionTarget, member: str) -> Answer:
    """A C function, for a target that runs it as it is."""
    if options.mapping:
        raise shared.usage_error(f"--mapping means nothing for the target {target.name}", "leave it out")
    function, data = functions.compile(options.file, target, member, sources.options_of(options), sources.level_of(options))
    files.write({options.output: data})
    answer = {"kernel": function.name, "on": f"{target.name}:{member}", "elf_bytes": len(data)}
    return Answer(answer, f"{options.output}: {function.name} for {target.name}:{member}, {len(data)} bytes")
