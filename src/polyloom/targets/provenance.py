# SPDX-License-Identifier: Apache-2.0
"""Where an operation comes from: a place in what the user wrote and, where the user did not write it, why it exists.

A target keeps one for each operation of its schedule; listings, traces and pages tell it. Files are named as the user
typed them, an absolute path by its last part alone, so that the bytes of a file do not depend on the folder that it was
compiled in.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import Final

from polyloom import files
from polyloom.diagnostics import PolyloomError, Span
from polyloom.ir.ssa import Place

_LONGEST: Final = 60
"""Characters of a statement."""
_WORD: Final = re.compile(r"\w+|\S")


@dataclass(frozen=True, slots=True)
class Provenance:
    """Lines and columns count from 1, and are 0 where they are not known; `end_column` is the one after the last.
    `statement` is the text around the place, `reason` empty where the user wrote the operation."""

    file: str
    line: int
    column: int
    end_column: int
    statement: str
    reason: str = ""

    @property
    def told(self) -> dict[str, str]:
        """What a trace says of it; nothing of what is not known."""
        source = f"{self.file}:{self.line}" if self.line else self.file
        found = {"source": source, "statement": self.statement, "reason": self.reason}
        return {key: text for key, text in found.items() if text}

    def __str__(self) -> str:
        """`fir.py:7  acc += a * b  (passes a along i)`, as far as it is known."""
        place = f"{self.file}:{self.line}" if self.line else self.file
        reason = f"({self.reason})" if self.reason else ""
        return "  ".join(part for part in (place, self.statement, reason) if part)


def provenance(span: Span | None, reason: str = "") -> Provenance | None:
    """Of what was written at `span`, for this reason; None where neither is known."""
    if span is None:
        return Provenance("", 0, 0, 0, "", reason) if reason else None
    text, line, column = span.source.text, span.line, span.column
    begin = span.start - column + 1
    end = text.find("\n", begin)
    whole = text[begin : len(text) if end < 0 else end].rstrip("\r")
    last = min(column + max(span.end - span.start, 1), max(len(whole), column) + 1)
    return Provenance(_shown(span.source.name), line, column, last, _short(whole), reason)


def of_place(place: Place) -> Provenance | None:
    """Of a place that was written down without its statement; None where nothing is known."""
    if not place.line and not place.reason:
        return None
    return Provenance(_encodable(place.shown_file), place.line, place.column, 0, "", place.reason)


def with_statement(found: Provenance, texts: Mapping[str, str]) -> Provenance:
    """With its line in `texts`, which are files with what they say; as it is where it has a statement, or they do not
    have the line."""
    lines = texts.get(found.file, "").split("\n")
    if found.statement or not 0 < found.line <= len(lines):
        return found
    line = lines[found.line - 1].rstrip("\r")
    word = _WORD.match(line, found.column - 1) if found.column else None
    return replace(found, statement=_short(line), end_column=word.end() + 1 if word else 0)


def found_texts(known: Iterable[Provenance]) -> dict[str, str]:
    """Of the files that these places are in, the texts of those that are there and still have all their statements."""
    by_file: dict[str, set[tuple[int, str]]] = {}
    for place in known:
        if place.line:
            by_file.setdefault(place.file, set()).add((place.line, place.statement))
    found = {file: _text_of(file) for file in by_file}
    return {file: text for file, text in found.items() if text is not None and _has(text, by_file[file])}


def _has(text: str, statements: Iterable[tuple[int, str]]) -> bool:
    lines = text.split("\n")
    return all(
        bool(statement) and line <= len(lines) and _short(lines[line - 1].rstrip("\r")) == statement
        for line, statement in statements
    )


def _text_of(file: str) -> str | None:
    try:
        return files.read(file).decode()
    except (PolyloomError, UnicodeDecodeError):
        return None


def texts(spans: Iterable[Span | None]) -> tuple[tuple[str, str], ...]:
    """The files that these places are in, as they are called there, with their texts, in the order of first use."""
    sources = dict.fromkeys(span.source for span in spans if span is not None)
    return tuple({_shown(source.name): _encodable(source.text) for source in sources}.items())


def _shown(name: str) -> str:
    path = PurePath(name)
    return _encodable(path.name if path.is_absolute() else name)


def _encodable(text: str) -> str:
    """Names of files, and texts of any encoding, may have what UTF-8 has not."""
    return text.encode("utf-8", "backslashreplace").decode()


def _short(line: str) -> str:
    words = _encodable(" ".join(line.split()))
    return words if len(words) <= _LONGEST else words[: _LONGEST - 1].rstrip() + "…"
