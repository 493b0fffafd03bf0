# SPDX-License-Identifier: Apache-2.0
"""The completion scripts, made by shtab of the parsers of all verbs; `polyloom completion` prints what is committed."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import shtab

from polyloom.cli import bench, entry, explain
from polyloom.cli.arguments import Parser, general_options
from polyloom.targets.entry import entries

FOLDER = Path(entry.__file__).with_name("completions")
_OUTPUTS = {"frontiers", "output", "outputs", "report", "trace"}
_FILES = {"against", "file", "files", "inputs", "source", "sources", *_OUTPUTS}


def script(shell: str) -> str:
    """The script of a shell, with its licence and without trailing blanks."""
    root = argparse.ArgumentParser(prog="polyloom", allow_abbrev=False)
    root.add_argument("--version", action="store_true", help="print the version")
    verbs = root.add_subparsers(parser_class=Parser)
    names = _names()
    for verb, (about, module) in entry.all_verbs().items():
        parser = verbs.add_parser(verb, help=about, description=about)
        entry.declared(verb, module)(parser)
        general_options(parser)
        for action in parser._actions:  # pyright: ignore[reportPrivateUsage]
            _complete(action, names.get(verb, ()))
    lines = shtab.complete(root, shell=shell).splitlines()
    first, rest = (lines[:1], lines[1:]) if lines[0].startswith("#compdef") else ([], lines)
    made = [*first, "# SPDX-License-Identifier: Apache-2.0", *(line.rstrip() for line in rest)]
    return "\n".join(made).rstrip() + "\n"


def _names() -> dict[str, Sequence[str]]:
    """What the operand NAME of a verb may be."""
    return {"explain": sorted(explain.known_codes()), "bench": sorted(bench.tables())}


def _complete(action: argparse.Action, names: Sequence[str]) -> None:
    """What shtab cannot know: which values are files, what has names, and that a machine begins with its target's."""
    if action.dest in _FILES:
        action.complete = shtab.FILE  # pyright: ignore[reportAttributeAccessIssue]
    elif action.dest == "name" and names:
        action.choices = list(names)
    elif action.dest == "on":
        action.choices = list(entries())
