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
        found = _named(options.file, _faults(options, files.read(options.file), placed))
    data: dict[str, object] = {
        "file": options.file,
        "valid": not found,
        "diagnostics": [as_object(d) for d in found],
    }
    return Answer(data, "" if found else f"{options.file}: valid", tuple(found))


def _faults(
    options: Request, data: bytes, placed: tuple[registry.Target, registry.Place] | None
) -> Sequence[Diagnostic]:
    """By the target that wrote the file; of a foreign one, by the target that is named."""
    given = of_target.given(options, data, "verify")
    if given is not None and given[0].verify_given is not None:
        return given[0].verify_given(given[1])
    target = given[0] if given is not None else registry.owned(options.file, data)[0]
    of_target.given_options(options, target, "verify")
    place = placed[1] if placed is not None and placed[0] is target else None
    return need(target, "verify", registry.having(lambda t: t.verify is not None))(data, place)


def _named(name: str, found: Sequence[Diagnostic]) -> Sequence[Diagnostic]:
    """Each says of which file it is."""
    return [d if d.span is not None or name in d.message else replace(d, message=f"{name}: {d.message}") for d in found]
