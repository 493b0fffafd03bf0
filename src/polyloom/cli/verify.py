# SPDX-License-Identifier: Apache-2.0
"""`polyloom verify`: what can be known of a program, or of a configuration, without running it. A Python file is
executed to find its kernels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from polyloom import api, files
from polyloom.cli import of_target, sources
from polyloom.cli.answer import Answer
from polyloom.cli.arguments import Parser, Request
from polyloom.cli.entry import as_object
from polyloom.diagnostics import Diagnostic
from polyloom.frontend import is_source
from polyloom.targets import registry
from polyloom.targets.target import need


def arguments(parser: Parser) -> None:
    sources.operand(parser, ", or a configuration (.plsc, .plcc) or an executable (.elf)")
    of_target.on_option(parser)
    of_target.target_options(parser, "verify")


def execute(options: Request) -> Answer:
    """A program that does not hold raises; its faults are located."""
    placed = registry.split(options.on) if options.on is not None else None
    if is_source(options.file):
        api.source_of(options.file, sources.options_of(options))
        found: Sequence[Diagnostic] = ()
    else:
        read = files.read(options.file)
        given = of_target.given(options, read, "verify")
        found = (
            _faults(options.file, read, placed)
            if given is None or given[0].verify_given is None
            else _named(options.file, given[0].verify_given(given[1]))
        )
    data: dict[str, object] = {
        "file": options.file,
        "valid": not found,
        "diagnostics": [as_object(d) for d in found],
    }
    return Answer(data, "" if found else f"{options.file}: valid", tuple(found))


def _faults(name: str, data: bytes, placed: tuple[registry.Target, registry.Place] | None) -> Sequence[Diagnostic]:
    """By the target that wrote the file; of a foreign one, by the target that is named."""
    owner = registry.owner(data)
    if owner is None and placed is not None:
        target = placed[0]
    else:
        target, _ = registry.owned(name, data)
    place = placed[1] if placed is not None and placed[0] is target else None
    found = need(target, "verify", registry.having(lambda t: t.verify is not None))(data, place)
    return _named(name, found)


def _named(name: str, found: Sequence[Diagnostic]) -> Sequence[Diagnostic]:
    """Each says of which file it is."""
    return [d if d.span is not None or name in d.message else replace(d, message=f"{name}: {d.message}") for d in found]
