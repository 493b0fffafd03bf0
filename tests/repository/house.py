# SPDX-License-Identifier: Apache-2.0
"""Measures of the source: tokens of each package, names that nobody can search for, comments, and sources named.

`python -m tests.repository.house` prints them; tests/repository/test_house.py holds them to their bounds. Odd names are
names of functions and modules that are a function word or a participle without a noun (`_of`, `made`): names in the
list of exceptions are terms of the field.
"""

from __future__ import annotations

import ast
import io
import re
import sys
import tokenize
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Final

PACKAGE: Final = Path(__file__).parents[2] / "src" / "polyloom"
_TEXT: Final = (Path(__file__).parent / "words.txt").read_text(encoding="utf-8")
_LISTS: Final = "\n".join(line for line in _TEXT.splitlines() if not line.startswith("#")).split("[")[1:]
_WORDS: Final = {name: frozenset(rest.split()) for name, _, rest in (part.partition("]") for part in _LISTS)}
FUNCTION_WORDS: Final = _WORDS["function words"]
IRREGULAR: Final = _WORDS["irregular participles"]
TERMS: Final = _WORDS["terms of the field"]
# A name that begins with one of these and goes on is a conversion or a predicate, as in the standard library.
CONVERSIONS: Final = frozenset(
    {"from", "to", "as", "is", "has", "with", "can", "may", "must", "needs", "in", "on", "at"}
)
LAYOUT: Final = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
SOURCE: Final = re.compile(
    r"§|\b([Ss]ections?|[Cc]hapter|[Ee]quation|[Ff]igure|[Tt]able|Algorithm|Theorem|Lemma|PRM|RFC) \(?[\dIVX]"
    r"|\bpage of `|\bpaper\b|\b(19|20)\d\d\b|IEEE 754|C11|C standard|\bmanual\b|Hacker's Delight|psABI|\bdocs/\w+"
)


Scope = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class Definition:
    """A function, class or module: its name, its place, whether it is a property, its docstring; its line, 0 for a
    module, and where its docstring begins."""

    name: str
    place: str
    kind: str
    docstring: str
    line: int = 0
    documented: tuple[int, int] | None = None


def participle(word: str) -> bool:
    """Whether a word is a participle by its form: -ed, -ing, or one of the irregular ones."""
    return word in IRREGULAR or (len(word) > 4 and word.endswith(("ed", "ing")))


def odd(name: str) -> bool:
    """Whether a name is a function word or a participle without a noun, or begins or ends in a function word."""
    words = name.strip("_").lower().split("_")
    if not words[0] or name in TERMS or name.startswith("__"):
        return False
    if len(words) == 1:
        return words[0] not in TERMS and (words[0] in FUNCTION_WORDS or participle(words[0]))
    if words[-1] in FUNCTION_WORDS or all(w in FUNCTION_WORDS or (participle(w) and w not in TERMS) for w in words):
        return True
    return words[0] in FUNCTION_WORDS - CONVERSIONS


def definitions(folder: Path = PACKAGE) -> Iterator[Definition]:
    """Every module, class and function of a folder."""
    for file in sorted(folder.rglob("*.py")):
        place = str(file.relative_to(folder))
        for own in _scopes(file):
            yield replace(own, place=f"{place}:{own.line}" if own.line else place)


@cache
def _scopes(file: Path) -> tuple[Definition, ...]:
    """Module, classes and functions of a file, without their place."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    found = [_definition(tree, file.parent.name if file.stem == "__init__" else file.stem, "module", 0)]
    for node in _statements(tree):
        if isinstance(node, ast.ClassDef):
            found.append(_definition(node, node.name, "class", node.lineno))
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            kind = "property" if any("property" in ast.unparse(d) for d in node.decorator_list) else "function"
            found.append(_definition(node, node.name, kind, node.lineno))
    return tuple(found)


def _statements(tree: ast.AST) -> Iterator[ast.AST]:
    """Statements within statements: nothing is defined in expressions, which are nine nodes of ten."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.stmt | ast.excepthandler | ast.match_case):
            yield node
            yield from _statements(node)


def _definition(node: Scope, name: str, kind: str, line: int) -> Definition:
    text = ast.get_docstring(node)
    begin = None if text is None else (node.body[0].lineno, node.body[0].col_offset)
    return Definition(name, "", kind, text or "", line, begin)


@dataclass(frozen=True, slots=True)
class Sizes:
    """Of a file: tokens without comments, docstrings and line ends; lines with a comment; lines that are not empty."""

    tokens: int
    commented: int
    lines: int


@cache
def sizes(file: Path) -> Sizes:
    """Sizes of a file, by one pass of the tokenizer."""
    text = file.read_text(encoding="utf-8")
    docstrings = {d.documented for d in _scopes(file)}
    found = list(tokenize.generate_tokens(io.StringIO(text).readline))
    counted = sum(t.type not in LAYOUT and t.start not in docstrings for t in found)
    commented = sum(t.type == tokenize.COMMENT and _gives_reason(t.string) for t in found)
    return Sizes(counted, commented, sum(bool(line.strip()) and "SPDX" not in line for line in text.splitlines()))


def total(folder: Path) -> Sizes:
    """Sizes of all files of a folder together."""
    found = [sizes(file) for file in folder.rglob("*.py")]
    return Sizes(sum(s.tokens for s in found), sum(s.commented for s in found), sum(s.lines for s in found))


def _gives_reason(comment: str) -> bool:
    """Not a licence, a directive of a tool, or a section's rule."""
    return not re.match(r"#\s*(SPDX|type:|pyright:|noqa|ruff:|fmt:|-+$)", comment) and len(comment) > 4


def measure() -> dict[str, float]:
    """All figures by name."""
    found = list(definitions())
    named = [d for d in found if d.kind in ("function", "module") and not d.name.startswith("__")]
    whole = total(PACKAGE)
    return {
        "tokens of targets": total(PACKAGE / "targets").tokens,
        "tokens": whole.tokens,
        "functions": sum(d.kind == "function" for d in found),
        "odd names, %": 100 * sum(odd(d.name) for d in named) / len(named),
        "comments, % of lines": 100 * whole.commented / whole.lines,
        "docstrings that name a source": sum(bool(SOURCE.search(d.docstring)) for d in found),
    }


if __name__ == "__main__":
    if len(sys.argv) > 1:  # the odd names themselves, of packages whose paths begin so
        for d in definitions():
            if d.kind in ("function", "module") and d.place.startswith(sys.argv[1]) and odd(d.name):
                print(d.place, d.name)
        print(Counter(d.place.split("/")[0] for d in definitions() if d.kind != "class" and odd(d.name)))
    for name, value in measure().items():
        print(f"{name:34}{value:>12.1f}")
