# SPDX-License-Identifier: Apache-2.0
"""Innermost loop around each line of a source, by its text: syntax trees of Python, matched braces of C and MLIR, the
iteration space of equations. Texts of other languages, such as assembly, have none.

Accounts of cycles name loops by it (docs/account.md). Debugging information has lines and no loops, and a program that
was loaded has a text at most, so that the text decides for all targets alike.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from typing import Final

# C, and the operations of MLIR: affine.for, scf.forall and the like.
_LOOP: Final = re.compile(r"\b(?:for|while|do)\b|(?<=\.)(?:forall|parallel)\b")
_SPACE: Final = re.compile(r"^\s*for\b", re.MULTILINE)
_SKIPPED: Final = re.compile(r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'", re.DOTALL)
_COUNTER: Final = re.compile(r"for\s*\(\s*(?:[\w\s]*?\b)?(\w+)\s*=|\w+\s*\(?(%\w+)")
Span = tuple[int, int, str]
"""First line, last line, counter."""


def find_loops(texts: Mapping[str, str], file: str = "") -> dict[int, str]:
    """Name of the innermost loop by line, such as `k (lines 14 to 16)`. Of several texts `file` tells which; without it
    lines of several files cannot be told apart, and there are no loops.
    """
    chosen = texts.get(file) if file else next(iter(texts.values())) if len(texts) == 1 else None
    name = file or next(iter(texts), "")
    if chosen is None:
        return {}
    spans = _list_loops(chosen, name.rpartition(".")[2])
    found = dict[int, str]()
    # Inner loops are shorter than those around them, and replace these.
    for first, last, counter in sorted(spans, key=lambda span: span[0] - span[1]):
        where = f"line {first}" if first == last else f"lines {first} to {last}"
        found.update(dict.fromkeys(range(first, last + 1), f"{counter} ({where})"))
    return found


def _list_loops(text: str, ending: str) -> Iterator[Span]:
    match ending:
        case "py":
            yield from _python_loops(text)
        case "pla":
            yield from _iteration_space(text)
        case "c" | "h" | "cpp" | "mlir":
            yield from _brace_loops(text)
        case _:
            pass


def _iteration_space(text: str) -> Iterator[Span]:
    """The iteration space of equations, which is all behind their declarations (docs/language.md)."""
    if (found := _SPACE.search(text)) is not None:
        yield text.count("\n", 0, found.end()) + 1, len(text.rstrip().split("\n")), "iteration space"


def _python_loops(text: str) -> Iterator[Span]:
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        # Of a text that is not Python there is nothing to say; the account stands without loops.
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.For | ast.While) and node.end_lineno is not None:
            counter = ast.unparse(node.target) if isinstance(node, ast.For) else "while"
            yield node.lineno, node.end_lineno, counter


def _brace_loops(text: str) -> Iterator[Span]:
    """Loops of C or MLIR, from their keyword to the end of their statement."""
    # Comments and strings become spaces, so that offsets and lines stay.
    plain = _SKIPPED.sub(lambda m: re.sub(r"[^\n]", " ", m[0]), text)
    for keyword in _LOOP.finditer(plain):
        end = _statement_end(plain, keyword.end())
        named = _COUNTER.match(plain, keyword.start())
        first, last = plain.count("\n", 0, keyword.start()) + 1, plain.count("\n", 0, end) + 1
        yield first, last, (named[1] or named[2]) if named else keyword[0]


def _statement_end(text: str, start: int) -> int:
    """Offset of the `;` or `}` that ends the statement: the first one outside of parentheses and braces."""
    depth, at = 0, start
    for at in range(start, len(text)):
        if text[at] in "({":
            depth += 1
        elif text[at] in ")}":
            depth -= 1
            if depth < 0 or (depth == 0 and text[at] == "}"):
                return at
        elif text[at] == ";" and depth == 0:
            return at
    return at
