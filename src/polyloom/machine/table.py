# SPDX-License-Identifier: Apache-2.0
"""Typed reader of TOML tables (TOML v1.0.0, 2021): a wrong, missing, unknown or out-of-range entry is an error at its
line and column.

A `Table` hands out entries by key and expected type. `Table.only` refuses the keys that nothing reads.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, cast

from polyloom.diagnostics import PolyloomError, Source, Span, input_error, nearest
from polyloom.machine.locate import Path, Places, locate
from polyloom.numerals import saturate

UNLIMITED: Final = "unlimited"
"""What a text says for a capacity without limit, which is `None` in Python."""

MOST_NUMBER: Final = 1e12
_KINDS: Final[Mapping[type, str]] = {
    bool: "true or false",
    int: "an integer",
    float: "a number",
    str: "a text",
    list: "an array",
    dict: "a table",
}


@dataclass(frozen=True, slots=True)
class Table:
    """Table of a parsed text; `path` leads to it."""

    source: Source
    places: Places
    content: Mapping[str, object]
    path: Path = ()

    def integer(self, key: str, least: int, most: int) -> int:
        """Integer at `key`; errors PL0304 (type), PL0305 (missing), PL0306 (not within `least` to `most`)."""
        return self._check_range(key, self._entry(key), least, most, "an integer")

    def number(self, key: str, least: float) -> float:
        """Number at `key`, at least `least`; errors PL0304, PL0305, PL0306."""
        value = self._entry(key)
        # In Python a bool is an int: `true` would pass as 1.
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self.type_error(key, _KINDS[float])
        if not least <= value <= MOST_NUMBER:
            message = f"'{key}' is {value}, outside {least:g} to {MOST_NUMBER:g}"
            help = f"write a number from {least:g} on"
            raise input_error("PL0306", message, span=self.value_span(key), help=help)
        return float(value)

    def capacity(self, key: str, least: int, most: int) -> int | None:
        """Capacity at `key`: an integer as above, or `None` where the text says "unlimited"."""
        value = self._entry(key)
        return (
            None if value == UNLIMITED else self._check_range(key, value, least, most, f'an integer or "{UNLIMITED}"')
        )

    def boolean(self, key: str) -> bool:
        value = self._entry(key)
        if not isinstance(value, bool):
            raise self.type_error(key, _KINDS[bool])
        return value

    def text(self, key: str) -> str:
        value = self._entry(key)
        if not isinstance(value, str):
            raise self.type_error(key, _KINDS[str])
        return value

    def texts(self, key: str) -> tuple[str, ...]:
        """Array of texts."""
        value = self._entry(key)
        if not isinstance(value, list):
            raise self.type_error(key, "an array of texts")
        items = tuple(cast("list[object]", value))
        for number, item in enumerate(items):
            if not isinstance(item, str):
                raise self.type_error(key, _KINDS[str], number)
        return cast("tuple[str, ...]", items)

    def table(self, key: str) -> Table:
        value = self._entry(key)
        if not isinstance(value, dict):
            raise self.type_error(key, _KINDS[dict])
        return Table(self.source, self.places, cast("dict[str, object]", value), (*self.path, key))

    def tables(self, key: str) -> tuple[Table, ...]:
        """Array of tables: `[[key]]` sections."""
        value = self._entry(key)
        items = cast("list[object]", value) if isinstance(value, list) else []
        if not items or not all(isinstance(item, dict) for item in items):
            raise self.type_error(key, f"one or more [[{key}]] sections")
        return tuple(
            Table(self.source, self.places, cast("dict[str, object]", item), (*self.path, key, n))
            for n, item in enumerate(items)
        )

    def reject_unknown(self, known: Iterable[str]) -> None:
        """Reject unknown keys: error PL0303 at the first key that is not `known`."""
        names = tuple(known)
        for key in self.content:
            if key not in names:
                raise input_error(
                    "PL0303", f"unknown key '{key}'", span=self.span(key), help=nearest(key, names, "key")
                )

    def type_error(self, key: str, expected: str, *inner: int) -> PolyloomError:
        """Error PL0304 at the value of `key`, or at an item in it."""
        what = f"an item of '{key}'" if inner else f"'{key}'"
        value: object = self.content[key]
        for number in inner:
            value = cast("list[object]", value)[number]
        found = _KINDS.get(type(value), "a date or time")
        return input_error(
            "PL0304",
            f"{what} must be {expected}, not {found}",
            span=self.value_span(key, *inner),
            help=f"write {expected}",
        )

    def span(self, key: str | None = None) -> Span:
        """Span of a key, or of the header of this table."""
        return self._span(self.places.keys.get(self.path if key is None else (*self.path, key)))

    def value_span(self, key: str, *inner: int) -> Span:
        """Span of a value, or of an item in it; of its header where the value is a section."""
        # A section has no value of its own in the text: its header stands for it.
        path = (*self.path, key, *inner)
        return self._span(self.places.values.get(path) or self.places.keys.get(path))

    def _span(self, place: tuple[int, int] | None) -> Span:
        # An entry that came from a base is nowhere in this text: the error points to its beginning.
        return Span(self.source, *(place or (0, 0)))

    def _entry(self, key: str) -> object:
        """Entry of a key; PL0305."""
        if key in self.content:
            return self.content[key]
        raise input_error(
            "PL0305",
            f"the key '{key}' is missing",
            span=self.span(),
            help=f"add `{key} = ...`; docs/machines.md lists every key",
        )

    def _check_range(self, key: str, value: object, least: int, most: int, expected: str) -> int:
        """Integer within a range; PL0304, PL0306."""
        if isinstance(value, bool) or not isinstance(value, int):
            raise self.type_error(key, expected)
        if least <= value <= most:
            return value
        help = f"write {expected.replace('integer', f'integer from {least} to {most}')}"
        raise input_error(
            "PL0306", f"'{key}' is {saturate(value)}, outside {least} to {most}", span=self.value_span(key), help=help
        )


def parse(text: str, name: str) -> Table:
    """Root table of a TOML text (a byte order mark and CRLF are accepted); error PL0302 for a syntax error."""
    source = Source(name, text.removeprefix("\ufeff").replace("\r\n", "\n"))
    try:
        content = tomllib.loads(source.text)
    except tomllib.TOMLDecodeError as error:
        raise _syntax_error(source, str(error)) from error
    # The library lets these out: Python's limit of an integer's digits, and of nested brackets.
    except (ValueError, RecursionError):
        raise _syntax_error(source, "an integer is too long, or brackets are nested too deeply") from None
    return Table(source, locate(source.text), content)


def _syntax_error(source: Source, message: str) -> PolyloomError:
    """Syntax error PL0302: the library's message, its position turned into a span."""
    place = re.search(r" \(at (?:line (\d+), column (\d+)|end of document)\)$", message)
    what = message[: place.start()] if place else message
    offset = len(source.text)
    if place and place[1]:
        lines = source.text.split("\n")
        offset = sum(len(line) + 1 for line in lines[: int(place[1]) - 1]) + int(place[2]) - 1
    help = "the file must be TOML: `key = value` lines and [[unit]] sections"
    return input_error("PL0302", f"{what[:1].lower()}{what[1:]}", span=Span(source, offset, offset + 1), help=help)
