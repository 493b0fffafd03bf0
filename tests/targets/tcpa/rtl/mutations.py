# SPDX-License-Identifier: Apache-2.0
"""Lines of Verilog, each changed once: an operator by another one, a constant, a condition."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

# The first that applies to a line is taken; widths, ranges and declarations are not changed.
_CHANGES = (
    (r"<= reset \? ", "<= !reset ? "),
    (r"if \(!", "if ("),
    (r"if \((?=[a-z])", "if (!"),
    (r" && ", " || "),
    (r" \|\| ", " && "),
    (r" == ", " != "),
    (r" != ", " == "),
    (r" < ", " >= "),
    (r" > ", " <= "),
    (r"(?<=[a-z\])]) \+ ", " - "),
    (r"(?<=[a-z\])]) - ", " + "),
    (r" & ", " | "),
    (r" \| ", " & "),
    (r" \^ ", " & "),
    (r"= ([a-z_]+) \? ", r"= !\1 ? "),
    (r"(?<=[=(] )~?\|(?=[a-z])", "~|"),
    (r"= 0;", "= 1;"),
    (r"= 1;", "= 0;"),
    (r"= ([a-z_]+);", r"= ~\1;"),
)


@dataclass(frozen=True, slots=True)
class Mutation:
    file: str
    line: int
    text: str
    """The whole file."""
    shown: str


def mutations(files: dict[str, str]) -> Iterator[Mutation]:
    """Mutations of the statements of all modules, in order."""
    for name, text in files.items():
        lines = text.split("\n")
        for number, line in enumerate(lines):
            is_statement = ";" in line or "if (" in line or line.rstrip().endswith("begin")
            if not name.endswith(".v") or "//" in line or "for (" in line or not is_statement:
                continue
            for pattern, other in _CHANGES:
                changed = re.sub(pattern, other, line, count=1)
                if changed != line:
                    whole = "\n".join([*lines[:number], changed, *lines[number + 1 :]])
                    yield Mutation(name, number + 1, whole, changed.strip())
                    break
