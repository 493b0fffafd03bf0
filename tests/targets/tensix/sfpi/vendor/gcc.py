# SPDX-License-Identifier: Apache-2.0
"""`make gcc SFPI=DIR`: words of the vendor's compiler (GCC) beside ours, function by function.

That compiler comes as a release that is not in package registries. DIR is a checkout of its repository,
tenstorrent/sfpi, at a commit that has `tests/wormhole/sfpi`: functions in C++, and in `gold` the listings that GCC
makes of them. Compared are those without parameters in whose listing is no branch, call or word put together at run
time: words that are executed, playback written out, without a recording's own word. Most of these functions leave their
results in registers, where GCC keeps them, and we do not: in a function that stores nothing, the variables of the
outermost block that begin with a literal begin with Dst and are stored at the end, here in the source, there as more
words.
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
COMPILED, TOTAL, LONGEST = 0.96, 0.90, 1.1
"""What the project promises: the part that compiles, words in all, and the words of one function, of GCC's."""
LONGER: Final = {
    "iadd_v_no3": "what the function is made to store has to be kept",
    "test_icmp_v": "unsigned numbers are compared exactly, which GCC does for differences below 2^31 alone",
}
"""Reasons of functions that are longer."""
_PLAIN: Final = Options(without=frozenset({"replay"}))
_LABEL = re.compile(r"^(_Z(?:N[^\d]*)?(\d+)\w+):$")
_FUNCTION = re.compile(r"^void (\w+)\(\)\n\{.*?^\}", re.MULTILINE | re.DOTALL)
_VARIABLE = re.compile(r"^    (v(?:Float|Int|UInt)) (\w+) = (-?\d+(?:\.\d+[fF]?)?);", re.MULTILINE)
_STORE = re.compile(r"dst_reg\[[^]]*\] = ")
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

    @property
    def ratio(self) -> float:
        return int(self.ours) / max(self.gcc, 1)


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
        names = [] if _STORE.search(function[0]) else [name for _, name, _ in _VARIABLE.findall(function[0])]
        more[function[1]] = len(names)
        if not names:
            return function[0]
        body = _VARIABLE.sub(lambda v: f"    {v[1]} {v[2]} = dst_reg[{64 + names.index(v[2])}];", function[0])
        return body[:-1] + "".join(f"    dst_reg[{96 + k}] = {name};\n" for k, name in enumerate(names)) + "}"

    return _FUNCTION.sub(store, text), more


def compared(folder: Path, file: str) -> Iterator[Row]:
    place = folder / "tests/wormhole/sfpi"
    gold = dict(listed_words((place / f"gold/{file}.S").read_text()))
    text = re.sub(
        r'^#include (<c?std\w+(\.h)?>|"test.h").*$', "", (place / f"{file}.cc").read_text(), flags=re.MULTILINE
    )
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


def print_table(rows: Sequence[Row]) -> None:
    """Functions, then by file and for all of them how many compile and how the words compare."""
    for row in rows:
        ours = f"{row.ours:6}{row.ratio:7.2f}" if isinstance(row.ours, int) else f"  {row.ours}"
        print(f"{row.file:16}{row.name:36}{row.gcc:6}{ours}")
    for file in (*FILES, ""):
        chosen = [row for row in rows if file in (row.file, "")]
        compiled = [row for row in chosen if isinstance(row.ours, int)]
        gcc, ours = (sum(words) for words in zip(*((row.gcc, int(row.ours)) for row in compiled), strict=True))
        longer = sum(row.ratio > LONGEST for row in compiled)
        print(
            f"{file or 'all':16}{len(compiled)} of {len(chosen)} compile, {gcc} words of GCC, {ours} of ours: ", end=""
        )
        print(f"{ours / gcc:.2f}; {longer} more than {LONGEST} times as long")


def main(arguments: Sequence[str]) -> int:
    rows = [row for file in FILES for row in compared(Path(arguments[0]), file)]
    print_table(rows)
    compiled = [row for row in rows if isinstance(row.ours, int)]
    total = sum(int(row.ours) for row in compiled) / sum(row.gcc for row in compiled)
    longer = {row.name for row in compiled if row.ratio > LONGEST}
    for name in sorted(longer - LONGER.keys()):
        print(f"{name} is longer, and no reason is known")
    is_met = len(compiled) >= COMPILED * len(rows) and total <= TOTAL and longer <= LONGER.keys()
    return 0 if is_met else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
