# SPDX-License-Identifier: Apache-2.0
"""`polyloom machines`: the shipped machines, or the resolved description of one, or of a file."""

from __future__ import annotations

import tomllib

from polyloom.cli.answer import Answer
from polyloom.cli.arguments import Parser, Request
from polyloom.targets.registry import TARGETS, get


def arguments(parser: Parser) -> None:
    parser.add_argument("name", metavar="NAME", nargs="?", help="a machine such as unit or tcpa:unit, or the name of a .toml file")


def execute(options: Request) -> Answer:
    if options.name is None:
        names = [f"{target}:{member}" for target in TARGETS for member in get(target).members()]
        return Answer({"machines": names}, "\n".join(names))
    target, colon, member = options.name.partition(":")
    resolved = get(target).describe(member) if colon else get(TARGETS[0]).describe(options.name)
    return Answer(tomllib.loads(resolved), resolved.rstrip("\n"))
