# SPDX-License-Identifier: Apache-2.0
"""Provenance of an operation: a place in what the user wrote and, where the user did not write it, why it exists.

A target keeps one for each operation of its schedule; listings, traces and pages tell it. Files are named as
`files.recorded_name` says. A name is only a name: nothing here opens the file that has it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import Final

from polyloom.diagnostics import Span, input_error
from polyloom.files import recorded_name
from polyloom.ir.ssa import Place

_LONGEST: Final = 60
"""Characters of a statement."""
_WORD: Final = re.compile(r"\w+|\S")


@dataclass(frozen=True, slots=True)
class Provenance:
    """Place and reason. Lines and columns count from 1, and are 0 where they are not known; `end_column` is the one
    after the last. `statement` is the text around the place, `reason` empty where the user wrote the operation.
    """

    file: str
    line: int
    column: int
    end_column: int
    statement: str
    reason: str = ""

    @property
    def told(self) -> dict[str, str]:
        """Arguments of a trace's span; nothing of what is not known."""
        source = f"{self.file}:{self.line}" if self.line else self.file
        found = {"source": source, "statement": self.statement, "reason": self.reason}
        return {key: text for key, text in found.items() if text}

    def __str__(self) -> str:
        """`fir.py:7  acc += a * b  (passes a along i)`, as far as it is known."""
        place = f"{self.file}:{self.line}" if self.line else self.file
        reason = f"({self.reason})" if self.reason else ""
        return "  ".join(part for part in (place, self.statement, reason) if part)


def provenance(span: Span | None, reason: str = "") -> Provenance | None:
    """Provenance of what was written at `span`, for this reason; None where neither is known."""
    if span is None:
        return Provenance("", 0, 0, 0, "", reason) if reason else None
    text, line, column = span.source.text, span.line, span.column
    begin = span.start - column + 1
    end = text.find("\n", begin)
    whole = text[begin : len(text) if end < 0 else end].rstrip("\r")
    # A span may go on to further lines; what is shown ends with the first one.
    last = min(column + max(span.end - span.start, 1), max(len(whole), column) + 1)
    return Provenance(_record_name(span.source.name), line, column, last, _short(whole), reason)


def place_provenance(place: Place) -> Provenance | None:
    """Provenance of a place that was written down without its statement; None where nothing is known."""
    if not place.line and not place.reason:
        return None
    return Provenance(_encodable(place.shown_file), place.line, place.column, 0, "", place.reason)


def with_statement(found: Provenance, texts: Mapping[str, str]) -> Provenance:
    """Provenance with its line in `source_texts`, which are files with what they say; as it is where it has a
    statement, or they do not have the line.
    """
    lines = texts.get(found.file, "").split("\n")
    if found.statement or not 0 < found.line <= len(lines):
        return found
    line = lines[found.line - 1].rstrip("\r")
    word = _WORD.match(line, found.column - 1) if found.column else None
    return replace(found, statement=_short(line), end_column=word.end() + 1 if word else 0)


def match_texts(known: Iterable[Provenance], given: Sequence[tuple[str, str]]) -> dict[str, str]:
    """Texts that are `given` with their paths, by the files that these places are in; where no place is known, by the
    names that they would have. Errors: PL0822 for a text that is not what the places were made from.
    """
    by_file: dict[str, set[tuple[int, str]]] = {}
    for place in known:
        if place.line:
            by_file.setdefault(place.file, set()).add((place.line, place.statement))
    if not by_file:
        return {PurePath(path).name: _encodable(text) for path, text in given}
    found: dict[str, str] = {}
    for path, text in given:
        # Paths differ between machines, so files are compared by their names and then by their lines.
        alike = [file for file in by_file if PurePath(file).name == PurePath(path).name]
        fitting = [file for file in alike if _contains_lines(text, by_file[file])]
        if not fitting:
            why = "it has other lines than the program tells" if alike else f"that is {_quote_names(by_file)}"
            message = f"'{path}' is not what the program was compiled from: {why}"
            raise input_error("PL0822", message, help="give the file as it was compiled, or leave --source out")
        found |= dict.fromkeys(fitting, _encodable(text))
    return found


def _quote_names(names: Iterable[str]) -> str:
    return ", ".join(f"'{name}'" for name in sorted(names))


def _contains_lines(text: str, statements: Iterable[tuple[int, str]]) -> bool:
    """Whether a text has these lines; of one without a statement, its number is all that is known."""
    lines = text.split("\n")
    return all(
        line <= len(lines) and statement in ("", _short(lines[line - 1].rstrip("\r"))) for line, statement in statements
    )


def source_texts(spans: Iterable[Span | None]) -> tuple[tuple[str, str], ...]:
    """Files that these places are in, as they are called there, with their texts, in the order of first use."""
    sources = dict.fromkeys(span.source for span in spans if span is not None)
    return tuple({_record_name(source.name): _encodable(source.text) for source in sources}.items())


def _record_name(name: str) -> str:
    return _encodable(recorded_name(name))


def _encodable(text: str) -> str:
    """Text that UTF-8 can encode: names of files, and texts of any encoding, may have what it has not."""
    return text.encode("utf-8", "backslashreplace").decode()


def _short(line: str) -> str:
    words = _encodable(" ".join(line.split()))
    return words if len(words) <= _LONGEST else words[: _LONGEST - 1].rstrip() + "…"
