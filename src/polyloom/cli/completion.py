# SPDX-License-Identifier: Apache-2.0
"""`polyloom completion SHELL`: a script that completes commands, options and files with the Tab key, made of the
parsers of all verbs, those of other packages' targets included. Tab itself starts no Python.
"""

from __future__ import annotations

import argparse
from argparse import RawDescriptionHelpFormatter
from collections.abc import Sequence
from typing import Final

from polyloom.cli import bench, entry, explain
from polyloom.cli.answer import Answer
from polyloom.cli.arguments import Parser, Request, general_options
from polyloom.cli.shells import SCRIPTS, Command, Place
from polyloom.targets.entry import entries

_EXAMPLES: Final = """to complete with Tab, once:
  bash:  polyloom completion bash > ~/.local/share/bash-completion/completions/polyloom
  zsh:   polyloom completion zsh > ~/.zfunc/_polyloom    (with `fpath+=~/.zfunc` before `compinit` in ~/.zshrc)
  fish:  polyloom completion fish > ~/.config/fish/completions/polyloom.fish"""
_FILES: Final = frozenset(
    ("against", "file", "files", "frontiers", "inputs", "output", "outputs", "report", "source", "sources", "trace")
)
"""Operands and options, by the name of their value, that are files."""


def arguments(parser: Parser) -> None:
    parser.add_argument("name", metavar="SHELL", choices=tuple(SCRIPTS), help=f"one of {', '.join(SCRIPTS)}")
    parser.epilog = _EXAMPLES
    parser.formatter_class = RawDescriptionHelpFormatter


def execute(options: Request) -> Answer:
    shell = str(options.name)
    text = SCRIPTS[shell](commands())
    return Answer({"shell": shell, "script": text}, text)


def commands() -> tuple[Command, ...]:
    """Every verb with its options and operands."""
    names = {"explain": sorted(explain.known_codes()), "bench": sorted(bench.tables())}
    return tuple(
        Command(verb, about, _places(verb, about, module, names.get(verb, ())))
        for verb, (about, module) in entry.known_verbs().items()
    )


def _places(verb: str, about: str, module: str, names: Sequence[str]) -> tuple[Place, ...]:
    parser = Parser(verb, about)
    entry.flag_declaration(verb, module)(parser)
    general_options(parser)
    return tuple(_place(action, names) for action in parser._actions)  # pyright: ignore[reportPrivateUsage]


def _place(action: argparse.Action, names: Sequence[str]) -> Place:
    """What argparse cannot know: which values are files, which have names, and that machines begin with a target's."""
    known = names if action.dest == "name" and names else list(entries()) if action.dest == "on" else action.choices
    metavar = action.metavar if isinstance(action.metavar, str) else action.dest
    repeats = action.nargs in ("*", "+") or isinstance(action.default, list)
    return Place(
        tuple(action.option_strings),
        metavar,
        (action.help or "").replace("%%", "%"),
        action.nargs != 0,
        repeats,
        action.dest in _FILES,
        tuple(map(str, known or ())),
    )
