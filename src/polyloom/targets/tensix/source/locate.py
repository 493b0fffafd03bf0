# SPDX-License-Identifier: Apache-2.0
"""Source spans of a kernel's instructions, in the files that they name, for messages at the user's own line."""

from __future__ import annotations

import re
from collections.abc import Sequence

from polyloom.diagnostics import INPUT, Diagnostic, PolyloomError, Source, Span
from polyloom.ir.ssa import Place

_WORD = re.compile(r"\w+|\S")
_LABEL = "<"


def place_span(place: Place) -> Span | None:
    """Span of the word at a place; the whole line where there is no column; None where the file or the line is not
    there.
    """
    text = source_text(place.file) if place.line else None
    if text is None:
        return None
    lines = text.split("\n")
    if place.line > len(lines):
        return None
    start = sum(len(line) + 1 for line in lines[: place.line - 1])
    line = lines[place.line - 1]
    source = Source(place.file, text)
    if not 0 < place.column <= len(line):
        indent = len(line) - len(line.lstrip())
        return Span(source, start + indent, start + max(len(line.rstrip()), indent + 1))
    found = _WORD.match(line, place.column - 1)
    at = start + place.column - 1
    return Span(source, at, at + (len(found[0]) if found else 1))


def make_diagnostic(
    code: str, message: str, place: Place, *, exit_code: int = INPUT, notes: Sequence[str] = (), help: str | None = None
) -> Diagnostic:
    """Diagnostic at a place; where its file cannot be read, with the line in words."""
    span = place_span(place)
    where = place.words()
    told = message if span or not where else f"{where}: {message}"
    return Diagnostic(code, told, exit_code, span, tuple(notes), help)


def error(
    code: str, message: str, place: Place, *, notes: Sequence[str] = (), help: str | None = None
) -> PolyloomError:
    return PolyloomError(make_diagnostic(code, message, place, notes=notes, help=help))


def file_label(name: str) -> str:
    """Label of a file that is shown, and that nobody opens."""
    return name if name.startswith(_LABEL) else f"{_LABEL}{name}>"


def source_text(name: str) -> str | None:
    """Text of a source; None for a label, and for what cannot be read."""
    if name.startswith(_LABEL):
        return None
    try:
        with open(name, encoding="utf-8", newline="") as file:
            return file.read().replace("\r\n", "\n")
    except (OSError, UnicodeDecodeError, ValueError):
        return None
