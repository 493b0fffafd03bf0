# SPDX-License-Identifier: Apache-2.0
"""Lexer of the equation language: words, each with its span; blanks and `#` comments are skipped (docs/language.md)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from polyloom.diagnostics import Diagnostic, Source, Span
from polyloom.ir.pla_names import PLAIN, QUOTED, unquote_name

Kind = Literal["name", "number", "symbol", "end"]

# ASCII digits alone: `int` takes those of every script, and messages would show a number that nobody sees.
_WORD = re.compile(
    rf"""(?P<blank>\s+|\#[^\n]*)
      | (?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)
      | (?P<name>{PLAIN}|{QUOTED})
      | (?P<symbol><=|>=|==|!=|[≤≥≠=<>+\-*/(),:\[\]])""",
    re.VERBOSE | re.ASCII,
)
_ASCII = {"≤": "<=", "≥": ">=", "≠": "!="}


@dataclass(frozen=True, slots=True)
class Token:
    """Token. `text` of a symbol is its ASCII spelling, that of a name has backquotes where it is written so, and is no
    keyword then. `starts_line`: nothing but blanks stands before it."""

    kind: Kind
    text: str
    span: Span
    starts_line: bool

    @property
    def name(self) -> str:
        """Name that `text` means, without backquotes."""
        return unquote_name(self.text)


def tokenize(source: Source) -> tuple[list[Token], list[Diagnostic]]:
    """Tokens of a text, with an `end` at its end, and PL0101 for every character that begins no word."""
    tokens: list[Token] = []
    errors: list[Diagnostic] = []
    position, starts_line = 0, True
    while position < len(source.text):
        match = _WORD.match(source.text, position)
        stop = match.end() if match else position + 1
        span = Span(source, position, stop)
        text = source.text[position:stop]
        position = stop
        if match is None:
            errors.append(Diagnostic("PL0101", f"unexpected character {text!r}", span=span, help=_HINTS.get(text)))
        elif match.lastgroup == "blank":
            # Equations end at a line's end: the parser asks where a line begins.
            starts_line = starts_line or "\n" in text
        else:
            kind: Kind = "number" if match.lastgroup == "number" else "name" if match.lastgroup == "name" else "symbol"
            tokens.append(Token(kind, _ASCII.get(text, text), span, starts_line))
            starts_line = False
    tokens.append(Token("end", "", Span(source, len(source.text), len(source.text)), True))
    return tokens, errors


_HINTS = {
    "&": "write `and`",
    "|": "write `or`",
    "^": "write `xor`",
    "~": "write `x[i] xor -1`",
    "!": "write `not`, or `!=` for unequal",
    "{": "an equation language text has no braces: `for ... do` is followed by the equations",
    ";": "equations need no terminator: write each on its own line",
    "%": "write `rem(a, b)`, with the sign of a, or `mod(a, b)`, with the sign of b",
}
