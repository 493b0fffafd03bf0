# SPDX-License-Identifier: Apache-2.0
"""`polyloom verify`: what can be known of a file without running it."""

from __future__ import annotations

from polyloom import api
from polyloom.cli import arguments as shared
from polyloom.cli import files, sources
from polyloom.cli.answer import Answer
from polyloom.cli.arguments import Parser, Request
from polyloom.cli.entry import as_object
from polyloom.frontend import is_source
from polyloom.targets import phase_views
from polyloom.targets.registry import split_place


def arguments(parser: Parser) -> None:
    sources.operand(parser, ", or a configuration (.plsc, .plcc)")
    shared.on_option(parser, default=None)


def execute(options: Request) -> Answer:
    """A program that does not hold raises; its faults are located."""
    member = split_place(options.on)[1].member if options.on else None
    if is_source(options.file):
        api.source_of(options.file, sources.options_of(options))
        found = ()
    else:
        loaded = api.decode(options.file, files.read(options.file))
        found = phase_views.verify(loaded.target, loaded.data, member)
    data = {"file": options.file, "valid": not found, "diagnostics": [as_object(d) for d in found]}
    return Answer(data, "" if found else f"{options.file}: valid", found)
