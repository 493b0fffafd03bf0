# SPDX-License-Identifier: Apache-2.0
"""The completion scripts, made by shtab of the parsers of all verbs; `polyloom completion` prints what is committed."""

from __future__ import annotations

import argparse
from pathlib import Path

import shtab

from polyloom.cli import entry
from polyloom.cli.arguments import Parser
from polyloom.targets.entry import entries

FOLDER = Path(entry.__file__).with_name("completions")
_OUTPUTS = {"frontiers", "output", "outputs", "report", "trace"}
_FILES = {"against", "file", "files", "inputs", "source", "sources", *_OUTPUTS}


def script(shell: str) -> str:
    """The script of a shell, with its licence and without trailing blanks."""
    root = argparse.ArgumentParser(prog="polyloom", allow_abbrev=False)
    root.add_argument("--version", action="store_true", help="print the version")
    verbs = root.add_subparsers(parser_class=Parser)
    for verb, (about, module) in entry.all_verbs().items():
        parser = verbs.add_parser(verb, help=about, description=about)
        entry.declared(verb, module)(parser)
        parser.add_argument("--json", action="store_true", help="print JSON")
        for action in parser._actions:  # pyright: ignore[reportPrivateUsage]
            _complete(action)
    lines = shtab.complete(root, shell=shell).splitlines()
    first, rest = (lines[:1], lines[1:]) if lines[0].startswith("#compdef") else ([], lines)
    made = [*first, "# SPDX-License-Identifier: Apache-2.0", *(line.rstrip() for line in rest)]
    return "\n".join(made).rstrip() + "\n"


def _complete(action: argparse.Action) -> None:
    """What shtab cannot know: which values are files, and that a machine begins with its target's name."""
    if action.dest in _FILES:
        action.complete = shtab.FILE  # pyright: ignore[reportAttributeAccessIssue]
    elif action.dest == "on":
        action.choices = list(entries())
