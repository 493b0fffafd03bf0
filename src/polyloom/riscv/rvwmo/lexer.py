# SPDX-License-Identifier: Apache-2.0
"""Lexer of litmus tests: names, integers and symbols, each with its span; blanks and nested `(* ... *)` comments are
skipped.

The first line, `RISCV name`, and what follows it up to the initial state are not tokens: names contain any sign.
Format: diy tool suite, documentation, part "Litmus tests and their formats" (docs/memory-model.md).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

from polyloom.diagnostics import Source, Span, input_error

Kind = Literal["name", "number", "symbol", "end"]

_WORD: Final = re.compile(
    r"(?P<blank>\s+)|(?P<name>[A-Za-z_][\w.]*|\.\w+)|(?P<number>-?(?:0[xX][0-9a-fA-F]+|[0-9]+))|(?P<symbol>/\\|\\/|=>|==|!=|[{}()\[\];:,|=&*~-])",
    re.ASCII,
)
_EDGE: Final = re.compile(r"\(\*|\*\)")
_KINDS: Final[dict[str | None, Kind]] = {"name": "name", "number": "number", "symbol": "symbol"}


@dataclass(frozen=True, slots=True)
class Token:
    """One word."""

    kind: Kind
    text: str
    span: Span


def tokens(source: Source, start: int) -> Iterator[Token]:
    """Tokens from character `start` on, and an `end`. Errors: PL0940 for what begins no token."""
    place = start
    while place < len(source.text):
        # Before the other words, because `(` is one of them.
        if source.text.startswith("(*", place):
            place = _comment_end(source, place)
            continue
        found = _WORD.match(source.text, place)
        if found is None:
            raise input_error(
                "PL0940",
                f"unexpected character {source.text[place]!r}",
                span=Span(source, place, place + 1),
                help=_HELP,
            )
        if found.lastgroup != "blank":
            yield Token(_KINDS[found.lastgroup], found[0], Span(source, place, found.end()))
        place = found.end()
    yield Token("end", "", Span(source, len(source.text), len(source.text)))


_HELP: Final = "a test has names, integers, and the signs of the herd format; comments stand between (* and *)"


def _comment_end(source: Source, start: int) -> int:
    """End of the comment that begins at `start`; comments nest. Errors: PL0940."""
    depth = 0
    for found in _EDGE.finditer(source.text, start):
        # Comments nest, as in OCaml, in which herd is written.
        depth += 1 if found[0] == "(*" else -1
        if depth == 0:
            return found.end()
    raise input_error(
        "PL0940", "this comment does not end", span=Span(source, start, start + 2), help="close it with *)"
    )
