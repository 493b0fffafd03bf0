# SPDX-License-Identifier: Apache-2.0
"""`polyloom debug`: a prompt over the debugger, or commands that are given (docs/debugging.md).

Commands come from `--command`, else from the terminal, else from the standard input, a line each. The prompt has a
history where `prompt_toolkit` is installed, and is a plain line elsewhere.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Final

from polyloom import api
from polyloom.cli import arguments as shared
from polyloom.cli import sources, target_flags
from polyloom.cli.answer import Answer
from polyloom.cli.arguments import Request
from polyloom.cli.named_arrays import read_arrays
from polyloom.cli.simulate import load_program
from polyloom.debugger.commands import Debugger
from polyloom.debugger.dap_connection import launch_program, serve_port, serve_streams
from polyloom.debugger.entry_point import is_program, open_debugger
from polyloom.debugger.gdb_connection import serve
from polyloom.diagnostics import USAGE, Diagnostic, PolyloomError, input_error
from polyloom.frontend import source_file
from polyloom.targets import registry
from polyloom.targets.options import integer, verb_options

_PROMPT: Final = "(polyloom) "


def execute(options: Request) -> Answer:
    shared.check_seed(options.seed)
    if options.dap is not None:
        return Answer({}, streamed=_serve_editor(options))
    if not options.file:
        raise PolyloomError(Diagnostic("PL0801", "no program is named", USAGE, help="write a FILE behind `debug`"))
    of = _open(options)
    if options.port is not None:
        return Answer({}, streamed=serve(of.session, integer(options.port, "--gdb")))
    commands = [*(["until-wrong"] if options.until_wrong else []), *options.commands]
    if commands:
        return _run_commands(of, commands)
    # A process without a console has no stream.
    if sys.stdin is None or not sys.stdin.isatty():
        return _run_commands(of, _piped_commands())
    return Answer({}, streamed=_prompt(of))


def _serve_editor(options: Request) -> Iterator[str]:
    """A debug adapter. Errors: those of ports, PL1509."""
    if options.dap and not options.dap.isdecimal():
        # `debug --dap FILE N=4`: the standard streams have no port.
        options.words = [*([options.file] if options.file else []), *options.words]
        options.file, options.dap = options.dap, ""

    def launch(arguments: Mapping[str, Any]) -> Debugger:
        # The program of the command line is the one that is meant, unless the editor names another.
        return launch_program(arguments) if not options.file or arguments.get("program") else _open(options)

    if not options.dap:
        return serve_streams(launch, options.file)
    return serve_port(launch, int(options.dap), options.file)


def _open(options: Request) -> Debugger:
    """Debugger of a source, which is compiled, or of a program file."""
    words = shared.named_values(options.words, "parameter", "N=64")
    inputs = read_arrays(shared.file_bindings(options.inputs, "--in"))
    if is_program(source_file(options.file)):
        loaded = load_program([options.file], options.on, options.sources)
        return open_debugger(loaded, {**words, **inputs}, seed=options.seed, fill=options.fill)
    target, place = registry.split_place(options.on)
    own = target_flags.given_options(options, target, "run")
    chosen = target.options(**own)
    subject = api.read_subject(options.file, target, place, sources.reading_options(options), chosen)
    sizes, scalars = sources.parameter_values(words, subject.signature)
    compiled = api.compile_subject(subject, target, place, chosen)
    later = {name: value for name, value in own.items() if name in verb_options(target.options, "instantiate")}
    instance = compiled.prepare_instance(sizes, later)
    return open_debugger(instance, {**scalars, **inputs}, seed=options.seed, fill=options.fill)


def _run_commands(of: Debugger, commands: list[str]) -> Answer:
    """Answers of commands; one that is refused ends them."""
    told, lines = list[object](), list[str]()
    found: tuple[Diagnostic, ...] = ()
    for command in commands:
        if of.has_quit:
            break
        try:
            answer = of.execute(command)
        except PolyloomError as error:
            found = error.diagnostics
            break
        told.append({"command": command, "output": answer})
        lines += answer
    session = of.session
    data = {"commands": told, "cycle": session.cycle, "position": session.position, "ended": session.is_at_end}
    # A wrong value decides the exit code before a fault, which may follow from it.
    wrong = of.verdict.diagnostic if of.verdict is not None else None
    faults = session.fault.diagnostics if session.fault is not None else ()
    return Answer(data, "\n".join(lines), (*found, *([wrong] if wrong else ()), *faults))


def _piped_commands() -> list[str]:
    """Commands on the standard input. Errors: PL1508 where there are none."""
    lines = [] if sys.stdin is None else [line.strip() for line in sys.stdin]
    commands = [line for line in lines if line and not line.startswith("#")]
    if not commands:
        help = "give commands by `--command`, such as `--command 'until C[0,0] != 0' --command where`"
        raise input_error("PL1508", "there is no terminal, and no command was given", help=help)
    return commands


def _prompt(of: Debugger) -> Iterator[str]:
    """Answers of commands that a person types; an empty line repeats the last one, as in GDB."""
    last = ""
    yield from of.describe_position()
    for line in _typed_lines():
        last = line.strip() or last
        try:
            yield from of.execute(last)
        except PolyloomError as error:
            yield str(error)
        if of.has_quit:
            return


def _typed_lines() -> Iterator[str]:
    """Lines of the terminal until it ends; an interrupt gives up a line, not the session."""
    read: Callable[[str], str] = input
    # Imported when used: it belongs to the extra `debug`, which an installation may lack.
    if find_spec("prompt_toolkit") is not None:
        read = import_module("prompt_toolkit").PromptSession().prompt
    while True:
        try:
            yield read(_PROMPT)
        except KeyboardInterrupt:
            continue
        except EOFError:
            return
