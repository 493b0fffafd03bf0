# SPDX-License-Identifier: Apache-2.0
"""Statements of assembly text: lines without comments, parted at semicolons (GNU as manual, "Statements")."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from polyloom.diagnostics import Source, Span, input_error
from polyloom.riscv.assembly.text import Text, piece

_COMMENT: Final = re.compile(r'"(?:[^"\\\n]|\\.)*"|\'(?:\\.|[^\'\\\n])\'?|/\*.*?\*/|(?:#|//)[^\n]*', re.DOTALL)
_PART: Final = re.compile(r"""(?:"(?:[^"\\\n]|\\.)*"|'(?:\\.|[^'\\\n])'?|[^;\n])+""")
_NAME: Final = r"[A-Za-z_.$][\w.$]*"
_STATEMENT: Final = re.compile(
    rf"(?:({_NAME}|\d+)\s*:)?\s*(?:({_NAME})\s*(=)(?!=)|([A-Za-z_.][\w.$]*))?(?:\s*(\S.*?))?\s*", re.DOTALL
)


@dataclass(frozen=True, slots=True)
class Line:
    """Statement as text: where it stands, and the line (from 1) of the main text that it is there for."""

    text: Text
    number: int


@dataclass(frozen=True, slots=True)
class ParsedStatement:
    """ParsedStatement statement: its label, its mnemonic or directive (`.set` for `name = value`), and its operands."""

    label: Text | None
    mnemonic: Text | None
    operands: Text


def split_lines(source: Source, number: int | None = None) -> Iterator[Line]:
    """Statements of a text; comments are blanks. `number` is the line of the main text, where it is another one."""
    clean = _COMMENT.sub(_blank_comment, source.text)
    line, place = 1, 0
    for found in _PART.finditer(clean):
        text = found[0].strip()
        if text:
            start = found.start() + len(found[0]) - len(found[0].lstrip())
            line += clean.count("\n", place, start)
            place = start
            yield Line(Text(text, Span(source, start, start + len(text))), line if number is None else number)


def _blank_comment(found: re.Match[str]) -> str:
    """Blanks in the place of a comment, so that everything behind it stays where it is; strings stay."""
    return found[0] if found[0][0] in "\"'" else re.sub(r"[^\n]", " ", found[0])


def parse_line(text: Text) -> ParsedStatement:
    """Label, mnemonic and operands of a statement. Errors: PL0905."""
    found = _STATEMENT.fullmatch(text.text)
    if found is None or (found[2] is None and found[4] is None and found[5] is not None):
        help = "write `label: mnemonic operands`"
        raise input_error("PL0905", "this is neither a label nor an instruction", span=text.span, help=help)
    operands = part(text, found, 5)
    if found[2] is not None:
        name = piece(text, found.start(2), found.end(2))
        value = "" if operands is None else operands.text
        whole = Span(name.span.source, name.span.start, text.span.end)
        return ParsedStatement(part(text, found, 1), Text(".set", name.span), Text(f"{name.text}, {value}", whole))
    end = Span(text.span.source, text.span.end, text.span.end)
    return ParsedStatement(part(text, found, 1), part(text, found, 4), operands or Text("", end))


def part(text: Text, found: re.Match[str], group: int) -> Text | None:
    """Group of a match as a piece of the text."""
    return None if found[group] is None else piece(text, found.start(group), found.end(group))
