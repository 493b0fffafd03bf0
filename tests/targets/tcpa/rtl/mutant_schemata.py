# SPDX-License-Identifier: Apache-2.0
"""Mutant schemata (Untch, Offutt and Harrold, Mutation analysis using mutant schemata, 1993): one text with all changed
lines, of which a run takes one, so that mutations share a build.

An expression becomes `number of the mutation ? changed : own`. Parameters, connections of ports and conditions of
`generate` are constants, which a run cannot choose: mutations of these stay apart.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence

from tests.targets.tcpa.rtl.mutations import Mutation

VARIABLE = "MUTANT"
"""Of the environment: number of the mutation of a run."""
SYNTHESIS = "SYNTHESIS"
"""The macro of the lines that only synthesis reads."""
_CONSTANT = re.compile(r"\blocalparam\b|^\s*\.\w+\(", re.MULTILINE)
_NAME = re.compile(r"(?<!')\b[A-Za-z_]\w*")


def schema_texts(texts: Mapping[str, str], chosen: Sequence[Mutation], top: str) -> tuple[dict[str, str], list[int]]:
    """Texts of all files with a mutation, or with the top module, and the numbers of the mutations that they have."""
    lines = {name: text.split("\n") for name, text in texts.items()}
    changed, numbers = {f"{top}.v"}, list[int]()
    for number, mutation in enumerate(chosen):
        own, at = lines[mutation.file], mutation.line - 1
        both = _choice(own[at], mutation.text.split("\n")[at], f"{top}.mutant == {number}")
        if both is not None and not _CONSTANT.search(_statement(own, at)):
            own[at] = both
            changed.add(mutation.file)
            numbers.append(number)
    own = lines[f"{top}.v"]
    # A variable that an initial block sets is none that Verilator takes for a constant.
    read = f'reg [31:0] mutant;\ninitial mutant = $c32("std::atoi(std::getenv(\\"{VARIABLE}\\"))");'
    own[next(n for n, line in enumerate(own) if line == ");")] = f");\n{read}"
    return {name: "\n".join(lines[name]) for name in sorted(changed)}, numbers


def with_synthesis(texts: Mapping[str, str]) -> dict[str, str]:
    """The texts as synthesis reads them."""
    return {name: f"`define {SYNTHESIS}\n{text}" for name, text in texts.items() if name.endswith(".v")}


def is_synthesized_alone(mutation: Mutation) -> bool:
    """Whether a simulator does not read the line: it lies in the first branch of `ifdef SYNTHESIS`."""
    before = mutation.text.split("\n")[: mutation.line - 1]
    marks = [line.split()[0] for line in before if line.startswith(("`ifdef", "`else", "`endif"))]
    return bool(marks) and marks[-1] == "`ifdef"


def select_mutant(number: int) -> None:
    os.environ[VARIABLE] = str(number)


def _choice(own: str, changed: str, chosen: str) -> str | None:
    """The line with both expressions, or None if it has none that a run could choose."""
    for begin, end in (*_conditions(own), *_right_sides(own)):
        same = len(own) - end
        if own[:begin] == changed[:begin] and own[end:] == changed[len(changed) - same :]:
            return f"{own[:begin]}({chosen} ? ({changed[begin : len(changed) - same]}) : ({own[begin:end]})){own[end:]}"
    return None


def _statement(lines: Sequence[str], at: int) -> str:
    """The line, behind those before it in one statement."""
    first = at
    while first and not lines[first - 1].rstrip().endswith((";", "begin", "generate", "(")) and first > at - 6:
        first -= 1
    return "\n".join(lines[first : at + 1])


def _conditions(line: str) -> Iterator[tuple[int, int]]:
    """Place of the first condition, unless it has but parameters and genvars, which have one letter."""
    found = re.search(r"\bif \(", line)
    if found is None:
        return
    end = next(n for n, depth in _depths(line, found.end()) if depth < 0)
    if any(len(name) > 1 and not name.isupper() for name in _NAME.findall(line[found.end() : end])):
        yield found.end(), end


def _right_sides(line: str) -> Iterator[tuple[int, int]]:
    """Places of what is assigned, in each declaration of the line."""
    places = dict(_depths(line, 0))
    stops = [n for n, depth in places.items() if depth == 0 and line[n] in ",;"]
    for begin, end in zip((0, *stops), stops, strict=False):
        found = next((m for m in re.finditer(r" <?= ", line[begin:end]) if not places[begin + m.start()]), None)
        if found is not None:
            yield begin + found.end(), end


def _depths(line: str, begin: int) -> Iterator[tuple[int, int]]:
    """Depth of brackets behind each place."""
    depth = 0
    for n in range(begin, len(line)):
        depth += (line[n] in "([{") - (line[n] in ")]}")
        yield n, depth
