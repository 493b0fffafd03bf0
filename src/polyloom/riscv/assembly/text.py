# SPDX-License-Identifier: Apache-2.0
"""Pieces of assembly text, each with the place where it stands."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from polyloom.diagnostics import Span

_TOKEN: Final = re.compile(r"""[(),]|"(?:[^"\\]|\\.)*"|'(?:\\.|[^'\\])'?|[^(),"']+|["']""")


@dataclass(frozen=True, slots=True)
class Text:
    """Piece of the source: what it says, and where it stands."""

    text: str
    span: Span


def piece(text: Text, start: int, end: int) -> Text:
    """Piece of a text; of one that is not what stands in the source (an expansion), the whole place."""
    span = text.span
    if len(text.text) == span.end - span.start:
        span = Span(span.source, span.start + start, span.start + end)
    return Text(text.text[start:end], span)


def split_operands(text: Text) -> list[Text]:
    """Operands of a statement: its parts between commas, none of which stands in parentheses or in quotes."""
    found, depth, begin = list[Text](), 0, 0
    for token in _TOKEN.finditer(text.text):
        depth += (token[0] == "(") - (token[0] == ")")
        if token[0] == "," and depth <= 0:
            found.append(_strip_piece(text, begin, token.start()))
            begin = token.end()
    return [*found, _strip_piece(text, begin, len(text.text))] if text.text.strip() else []


def _strip_piece(text: Text, start: int, end: int) -> Text:
    inner = text.text[start:end]
    return piece(text, start + len(inner) - len(inner.lstrip()), start + len(inner.rstrip()) if inner.strip() else end)
