# SPDX-License-Identifier: Apache-2.0
"""Statements `printf(...);` of a C text, found by its tokens (C17, section 6.8).

A `printf` whose value is used is no statement; in a file that defines its own there is none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from polyloom.frontend.c.calls.tokens import COMMENTS, TOKEN

_BEFORE: Final = (";", "{", "}", "else", "do")
"""What stands before a statement, beside heads and labels."""
_OPERATORS: Final = ("return", "sizeof", "_Alignof", "case")
"""Words before a parenthesis that begins an expression, such as a cast. Any other word is a head or a macro of one."""
_OWN: Final = re.compile(r"#\s*define\s+printf\b")
_UNUSED: Final = re.compile(r"#\s*if\s+0\s*$")


@dataclass(frozen=True, slots=True)
class Token:
    """Token with its place in the text."""

    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Statement:
    """Statement in the text, its semicolon included, with the tokens of its arguments."""

    start: int
    end: int
    arguments: tuple[tuple[Token, ...], ...]


def print_statements(text: str) -> list[Statement]:
    """Prints in the order of the text."""
    if "printf" not in text or any(_OWN.match(m[0].lstrip()) for m in TOKEN.finditer(text)):
        return []
    tokens, found = list(_tokens(text)), list[Statement]()
    for n, token in enumerate(tokens[:-1]):
        if token.text != "printf" or tokens[n + 1].text != "(":
            continue
        end, arguments = _arguments(tokens, n + 2)
        if end < len(tokens) and tokens[end].text == "{":
            # The file defines its own, which may do anything.
            return []
        # `(void)printf(...)` says that its value is not used.
        first = n - 3 if [t.text for t in tokens[max(n - 3, 0) : n]] == ["(", "void", ")"] else n
        if end < len(tokens) and tokens[end].text == ";" and _begins_statement(tokens, first):
            found.append(Statement(tokens[first].start, tokens[end].end, arguments))
    return found


def defined_functions(text: str) -> set[str]:
    """Names of what the file defines: words before parentheses with a body behind them."""
    tokens = list(_tokens(text))
    return {
        token.text
        for n, (token, opening) in enumerate(pairwise(tokens))
        if opening.text == "(" and token.text.isidentifier() and token.text not in ("if", "for", "while", "switch")
        # A body follows the closing parenthesis.
        if (end := _arguments(tokens, n + 2)[0]) < len(tokens) and tokens[end].text == "{"
    }


def _tokens(text: str) -> Iterator[Token]:
    """Tokens without comments and directives, and without what `#if 0` leaves out."""
    depth = 0
    for match in TOKEN.finditer(text):
        directive = match[0].lstrip()
        if directive.startswith("#"):
            # Within what is left out, other conditions nest.
            words = directive[1:].lstrip()
            if depth and words.startswith("if"):
                depth += 1
            elif depth and (words.startswith("endif") or (depth == 1 and words.startswith("el"))):
                depth -= 1
            elif not depth and _UNUSED.match(directive):
                depth = 1
        elif not depth and not directive.startswith(COMMENTS):
            yield Token(match[0], match.start(), match.end())


def _begins_statement(tokens: Sequence[Token], n: int) -> bool:
    """Whether a statement may begin at a token."""
    before = tokens[n - 1].text if n else ";"
    if before == ")":
        opening = _opening_token(tokens, n - 1)
        head = tokens[opening - 1].text if opening > 0 else ""
        return head.isidentifier() and head not in _OPERATORS
    if before == ":":
        # A label's, unless it is that of a conditional expression.
        backwards = (token.text for token in reversed(tokens[: n - 1]))
        return next((text for text in backwards if text in (";", "{", "}", "?")), ";") != "?"
    return before in _BEFORE


def _opening_token(tokens: Sequence[Token], closing: int) -> int:
    """Number of the parenthesis that another one closes; -1 without one."""
    depth = 0
    for n in range(closing, -1, -1):
        depth += (tokens[n].text == ")") - (tokens[n].text == "(")
        if not depth:
            return n
    return -1


def _arguments(tokens: Sequence[Token], start: int) -> tuple[int, tuple[tuple[Token, ...], ...]]:
    """Arguments of a call from behind its parenthesis on, and the number of the token behind the closing one."""
    depth, found = 0, list[list[Token]]([[]])
    for n in range(start, len(tokens)):
        text = tokens[n].text
        if text == ")" and not depth:
            return n + 1, tuple(map(tuple, found))
        depth += (text in "([{") - (text in ")]}")
        if text == "," and not depth:
            found.append([])
        else:
            found[-1].append(tokens[n])
    return len(tokens), ()
