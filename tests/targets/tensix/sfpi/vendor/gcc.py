# SPDX-License-Identifier: Apache-2.0
"""`make gcc SFPI=DIR`: words of the vendor's compiler (GCC) beside ours, function by function.

That compiler comes as a release that is not in package registries. DIR is a checkout of its repository, tenstorrent/sfpi,
at a commit that has `tests/wormhole/sfpi`: functions in C++, and in `gold` the listings that GCC makes of them. Compared
are those without parameters in whose listing is no branch, call or word put together at run time: words that are
executed, playback written out, without a recording's own word. Most of these functions leave their results in
registers, where GCC keeps them, and we do not: of each variable of the function's outermost block that begins with a
literal, the literal becomes a load of Dst and its end is stored, here in the source, there as another word.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from tests.targets.tensix.sfpi.passes.bench import words_of

from polyloom.diagnostics import PolyloomError
from polyloom.ir.ssa import Function
from polyloom.targets.tensix.source.cpp.source import load_functions
from polyloom.targets.tensix.source.lower.compile import Options, lower

FILES: Final = ("pushpop", "vcond", "combine", "coverage", "live", "regmov", "replay", "schedule", "unnecessarymov")
NESTED: Final = "pushpop"
"""The file of nested conditions."""
_PLAIN: Final = Options(without=frozenset({"replay"}))
_LABEL = re.compile(r"^(_Z(?:N[^\d]*)?(\d+)\w+):$")
_FUNCTION = re.compile(r"^void (\w+)\(\)\n\{.*?^\}", re.MULTILINE | re.DOTALL)
_VARIABLE = re.compile(r"^    (v(?:Float|Int|UInt)) (\w+) = (-?\d+(?:\.\d+[fF]?)?);", re.MULTILINE)
_WORD: Final = ("SFP", "TT")
_SCALAR: Final = frozenset({"ret", "li", "lui", "addi"})
"""Instructions that neither branch nor write words: all of a listing that is compared."""


@dataclass(frozen=True, slots=True)
class Row:
    """A function: GCC's words, and ours or why there are none."""

    file: str
    name: str
    gcc: int
    ours: int | str


def listed_words(listing: str) -> Iterator[tuple[str, int]]:
    """Executed words of each function of a listing that is straight code."""
    name, lines = "", list[str]()
    for line in listing.split("\n"):
        if label := _LABEL.match(line):
            length = int(label[2])
            start = label[1].index(label[2]) + len(label[2])
            name, lines = label[1][start : start + length], []
        elif line.startswith("\t.size") and name:
            count = _executed_words(lines)
            if count is not None:
                yield name, count
            name = ""
        elif line.startswith("\t") and not line.startswith("\t."):
            lines.append(line.strip())


def _executed_words(lines: Sequence[str]) -> int | None:
    count = 0
    for line in lines:
        operation, _, operands = line.partition("\t")
        if operation == "TTREPLAY":
            _, length, executes, records = (int(part) for part in operands.split(","))
            if records and not executes:
                return None
            count += 0 if records else length
        elif operation.startswith(_WORD):
            count += 1
        elif operation not in _SCALAR:
            return None
    return count


def stored_text(text: str) -> tuple[str, Mapping[str, int]]:
    """Source whose functions store what they computed; by name of a function how many words that takes more."""
    more: dict[str, int] = {}

    def store(function: re.Match[str]) -> str:
        found = _VARIABLE.findall(function[0])
        more[function[1]] = len(found)
        body = _VARIABLE.sub(lambda v: f"    {v[1]} {v[2]} = dst_reg[{64 + _row(found, v[2])}];", function[0])
        return body[:-1] + "".join(f"    dst_reg[{96 + k}] = {name};\n" for k, (_, name, _) in enumerate(found)) + "}"

    return _FUNCTION.sub(store, text), more


def _row(found: Sequence[tuple[str, str, str]], name: str) -> int:
    return next(k for k, (_, other, _) in enumerate(found) if other == name)


def compared(folder: Path, file: str) -> Iterator[Row]:
    place = folder / "tests/wormhole/sfpi"
    gold = dict(listed_words((place / f"gold/{file}.S").read_text()))
    text = re.sub(r'^#include (<c?std\w+(\.h)?>|"test.h").*$', "", (place / f"{file}.cc").read_text(), flags=re.MULTILINE)
    text, more = stored_text("#include <sfpi.h>\n" + text)
    names = [name for name in more if name in gold]
    for name, found in _lowered(text, names).items():
        yield Row(file, name, gold[name] + more[name], found)


def _lowered(text: str, names: Sequence[str]) -> dict[str, int | str]:
    """Our words by function; where one stops the compiler, it is left out and the rest read again."""
    found: dict[str, int | str] = {}
    with TemporaryDirectory() as folder:
        path = Path(folder, "unit.h")
        while left := [name for name in names if name not in found]:
            path.write_text(text)
            try:
                functions = load_functions(str(path), tuple(left)).functions
            except PolyloomError as error:
                name, text = _without_function(text, error)
                found[name] = f"{error.diagnostics[0].code} {error.diagnostics[0].message}"[:100]
                continue
            found |= {name: _count_words(function) for name, function in zip(left, functions, strict=True)}
    return {name: found[name] for name in names}


def _without_function(text: str, error: PolyloomError) -> tuple[str, str]:
    """Name of the function in which an error stands, and the text without it."""
    span = error.diagnostics[0].span
    line = 0 if span is None else span.line
    for function in re.finditer(r"^[\w:<>& *]+ \*?(\w+)\([^)]*\)\s*\{.*?^\}", text, re.MULTILINE | re.DOTALL):
        first = text.count("\n", 0, function.start()) + 1
        if first <= line <= text.count("\n", 0, function.end()) + 1:
            return function[1], text[: function.start()] + "\n" * function[0].count("\n") + text[function.end() :]
    raise error


def _count_words(function: Function) -> int | str:
    try:
        return len(words_of(lower(function, _PLAIN).function))
    except PolyloomError as error:
        return f"{error.diagnostics[0].code} {error.diagnostics[0].message}"[:100]


def main(arguments: Sequence[str]) -> int:
    rows = [row for file in FILES for row in compared(Path(arguments[0]), file)]
    for row in rows:
        ratio = f"{row.ours / row.gcc:6.2f}" if isinstance(row.ours, int) and row.gcc else "     -"
        print(f"{row.file:16}{row.name:36}{row.gcc:6}{row.ours:6}{ratio}" if isinstance(row.ours, int) else
              f"{row.file:16}{row.name:36}{row.gcc:6}  {row.ours}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
