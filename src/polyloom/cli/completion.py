# SPDX-License-Identifier: Apache-2.0
"""`polyloom completion SHELL`: a script that completes commands, options and files with the Tab key.

The scripts are files of the package, so that Tab starts no Python; `tests/cli/test_completion.py` makes them of the
verbs' own options.
"""

from __future__ import annotations

from argparse import RawDescriptionHelpFormatter
from importlib.resources import files
from typing import Final

from polyloom.cli.answer import Answer
from polyloom.cli.arguments import Parser, Request

SHELLS: Final = ("bash", "zsh", "fish")
_EXAMPLES: Final = """to complete with Tab, once:
  bash:  polyloom completion bash > ~/.local/share/bash-completion/completions/polyloom
  zsh:   polyloom completion zsh > ~/.zfunc/_polyloom    (with `fpath+=~/.zfunc` before `compinit` in ~/.zshrc)
  fish:  polyloom completion fish > ~/.config/fish/completions/polyloom.fish"""


def arguments(parser: Parser) -> None:
    parser.add_argument("name", metavar="SHELL", choices=SHELLS, help=f"one of {', '.join(SHELLS)}")
    parser.epilog = _EXAMPLES
    parser.formatter_class = RawDescriptionHelpFormatter


def execute(options: Request) -> Answer:
    shell = str(options.name)
    text = (files("polyloom.cli") / "completions" / f"polyloom.{shell}").read_text(encoding="utf-8")
    return Answer({"shell": shell, "script": text}, text)
