# SPDX-License-Identifier: Apache-2.0
"""`polyloom verify`: what can be known of a program, or of a configuration, without running it. A Python file is executed to find its kernels."""

from __future__ import annotations

from polyloom import api, files
from polyloom.cli import arguments as shared
from polyloom.cli import sources
from polyloom.cli.answer import Answer
from polyloom.cli.arguments import Parser, Request
from polyloom.cli.entry import as_object
from polyloom.diagnostics import Diagnostic
from polyloom.frontend import is_source
from polyloom.targets import phase_views
from polyloom.targets.registry import executable_of, split_place


def arguments(parser: Parser) -> None:
    sources.operand(parser, ", or a configuration (.plsc, .plcc) or an executable (.elf)")
    shared.on_option(parser, default=None)


def execute(options: Request) -> Answer:
    """A program that does not hold raises; its faults are located."""
    member = split_place(options.on)[1].member if options.on else None
    if is_source(options.file):
        api.source_of(options.file, sources.options_of(options))
        found = ()
    else:
        found = _faults(options.file, files.read(options.file), member)
    data: dict[str, object] = {"file": options.file, "valid": not found, "diagnostics": [as_object(d) for d in found]}
    return Answer(data, "" if found else f"{options.file}: valid", found)


def _faults(name: str, data: bytes, member: str | None) -> tuple[Diagnostic, ...]:
    """Of a configuration, or of an executable, whose code has to be instructions."""
    if (target := executable_of(data)) is None:
        loaded = api.decode(name, data)
        return phase_views.verify(loaded.target, loaded.data, member)
    illegal = target.inspect(data)[0]["illegal"]
    assert isinstance(illegal, list)
    return tuple(Diagnostic("PL0911", f"{name}: what stands at {address:#x} is no instruction") for address in illegal if isinstance(address, int))
