# SPDX-License-Identifier: Apache-2.0
"""Line table of an executable: from which address on which line of which file, and why a word is there where the user
did not write it.

In the note of a program of ours they stand under `lines`, by file: `{"k.c": [[address, line], [address, line, reason],
...]}`, line 0 where there is only a reason (docs/formats.md). A place holds until the next address that is listed.
Other compilers put theirs into `.debug_line`, which debug_lines.py reads.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, cast

from polyloom import files
from polyloom.diagnostics import Diagnostic
from polyloom.files import recorded_name
from polyloom.ir.ssa import Place
from polyloom.riscv import debug_lines
from polyloom.riscv import note as notes

KEY: Final = "lines"
TEXTS: Final = "texts"
"""Under which some notes have the lines themselves, by file."""
_COLUMN: Final = 44


@dataclass(frozen=True, slots=True)
class Lines:
    """Line table: `addresses` rise; `places` are those of each, empty where nothing is known."""

    addresses: tuple[int, ...] = ()
    places: tuple[Place, ...] = ()

    def at(self, address: int) -> Place | None:
        """The place of an address."""
        number = bisect_right(self.addresses, address) - 1
        place = self.places[number] if number >= 0 else None
        return place if place is not None and (place.line or place.reason) else None

    def annotate(self, address: int, line: str) -> str:
        """Line of a listing with its source place as a comment."""
        here = self.at(address)
        return line if here is None else f"{line:<{_COLUMN}}  # {here}"

    def without(self, address: int, line: str) -> str:
        """Line of a listing without the comment that `annotate` has added."""
        return line if self.at(address) is None else line.rpartition("  # ")[0].rstrip()


def encode_lines(places: Mapping[int, Place]) -> dict[str, list[list[int | str]]]:
    """Line table for the note; a file that is named by an absolute path loses its folders. A place that repeats the one
    before is left out.
    """
    found: dict[str, list[list[int | str]]] = {}
    last: tuple[str, int, str] | None = None
    for address, place in sorted(places.items()):
        here = place.shown_file, place.line, place.reason
        if here != last:
            found.setdefault(here[0], []).append([address, *(part for part in here[1:] if part != "")])
        last = here
    return found


def decode_lines(data: bytes) -> Lines:
    """Line table of an ELF file, from its note or from debugging information; empty where neither has any."""
    return notes.read_note(data, note_lines) or _line_table(
        (at, _recorded_place(*pair)) for at, pair in debug_lines.source_lines(data).items()
    )


def findings(data: bytes) -> list[Diagnostic]:
    """Diagnostics PL0707 for names of sources in the note that are not as they are written there."""
    named = notes.read_note(data, lambda made: [str(name) for key in (KEY, TEXTS) for name in made.get(key, {})]) or []
    return [files.stray_name_diagnostic(name) for name in dict.fromkeys(named) if not files.is_recorded_name(name)]


def note_lines(made: dict[str, Any]) -> Lines:
    """Those of a note."""
    rows = cast("dict[str, list[list[Any]]]", made.get(KEY, {})).items()
    return _line_table((int(row[0]), _recorded_place(file, *row[1:])) for file, listed in rows for row in listed)


def _recorded_place(file: str, line: int, reason: str = "") -> Place:
    return Place(recorded_name(file), int(line), 0, str(reason))


def _line_table(found: Iterable[tuple[int, Place]]) -> Lines:
    rows = sorted(found, key=lambda row: row[0])
    return Lines(tuple(at for at, _ in rows), tuple(place for _, place in rows))
