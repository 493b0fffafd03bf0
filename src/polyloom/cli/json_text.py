# SPDX-License-Identifier: Apache-2.0
"""JSON reader with positions: a fault can be shown at its place (RFC 8259).

The standard library's reader, which is fast, gives values without positions. Only when something is wrong is the text,
which that reader has already accepted, walked along the path to the value.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from polyloom.diagnostics import PolyloomError, Source, Span, input_error
from polyloom.numerals import parse_integer

Path = tuple[str | int, ...]

_BLANKS: Final = re.compile(r"[ \t\r\n]*")
_DECODER: Final = json.JSONDecoder(parse_int=len)  # for where values end, which so reads integers of any length


@dataclass(frozen=True, slots=True)
class Document:
    """Parsed document with its source text."""

    value: object
    source: Source

    def value_span(self, path: Path) -> Span:
        """Where the value at `path` stands."""
        return self._find_spans(path)[1]

    def key_span(self, path: Path) -> Span:
        """Where the key that `path` ends with stands."""
        return self._find_spans(path)[0]

    def text(self, span: Span) -> str:
        """What is written there, at most one line of 40 characters."""
        line = self.source.text[span.start : span.end].split("\n")[0]
        return line if len(line) <= 40 else f"{line[:37]}..."

    def repeated_key(self) -> tuple[str, Span] | None:
        """First key that the outermost object has for a second time; RFC 8259, section 4, leaves its meaning open."""
        seen: set[str | int] = set()
        for key, place, _ in self._member_spans(self._skip_blanks(0)):
            if key in seen:
                return str(key), place
            seen.add(key)
        return None

    def repeated_anywhere(self) -> tuple[str, Span] | None:
        """First key that any object has for a second time."""
        found = False

        def look(pairs: list[tuple[str, object]]) -> None:
            nonlocal found
            found = found or len({key for key, _ in pairs}) < len(pairs)

        # The fast reader tells whether there is one; only then is the text walked for its place.
        json.loads(self.source.text, object_pairs_hook=look, parse_int=len)
        return self._find_repetition(self._skip_blanks(0)) if found else None

    def _find_repetition(self, start: int) -> tuple[str, Span] | None:
        # Only containers can repeat keys.
        if self.source.text[start] not in "{[":
            return None
        seen: set[str | int] = set()
        for key, place, value in self._member_spans(start):
            if key in seen:
                return str(key), place
            seen.add(key)
            if (inside := self._find_repetition(value.start)) is not None:
                return inside
        return None

    def _find_spans(self, path: Path) -> tuple[Span, Span]:
        """The spans of key and value."""
        place = value = self._value_span(self._skip_blanks(0))
        for step in path:
            place, value = next((place, value) for key, place, value in self._member_spans(value.start) if key == step)
        return place, value

    def _member_spans(self, start: int) -> Iterator[tuple[str | int, Span, Span]]:
        """Key or index, its span (an index has the item's), and the value's span, of the container at `start`."""
        is_object = self.source.text[start] == "{"
        at, number = self._skip_blanks(start + 1), 0
        while self.source.text[at] not in "]}":
            place = value = self._value_span(at)
            if is_object:
                value = self._value_span(self._skip_blanks(self._skip_blanks(place.end) + 1))
            yield json.loads(self.source.text[place.start : place.end]) if is_object else number, place, value
            at, number = self._skip_blanks(value.end), number + 1
            at = self._skip_blanks(at + 1) if self.source.text[at] == "," else at

    def _value_span(self, start: int) -> Span:
        return Span(self.source, start, _DECODER.raw_decode(self.source.text, start)[1])

    def _skip_blanks(self, start: int) -> int:
        """The first character from `start` on that is no blank."""
        match = _BLANKS.match(self.source.text, start)
        assert match is not None
        return match.end()


def parse_json(data: bytes, name: str, help: str) -> Document:
    """Document of a UTF-8 text called `name`. Errors: PL0960, whose help is `help`."""
    try:
        # A byte order mark, which some editors write, is skipped.
        source = Source(name, data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise input_error(
            "PL0960", f"'{name}' is not text in UTF-8: byte {error.start} is 0x{data[error.start]:02x}", help=help
        ) from None
    try:
        return Document(json.loads(source.text, parse_int=parse_integer), source)
    except json.JSONDecodeError as error:
        raise _syntax_error(source, error.pos, help) from None
    except RecursionError:
        raise input_error("PL0960", f"'{name}' nests values too deeply", help=help) from None


def _syntax_error(source: Source, at: int, help: str) -> PolyloomError:
    if not source.text[at:].strip():
        return input_error("PL0960", "the JSON text ends too early", span=Span(source, at, at + 1), help=help)
    return input_error(
        "PL0960", f"malformed JSON: {source.text[at]!r} cannot stand here", span=Span(source, at, at + 1), help=help
    )
