# SPDX-License-Identifier: Apache-2.0
"""Source lines of a program: from which address on which line of which file.

A line holds until the next address that is listed. In the note of a program of ours they stand under `lines`, by file:
`{"k.s": [[address, line], ...]}`; other compilers put them into `.debug_line`.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any, Final, cast

from polyloom.riscv import debug_lines
from polyloom.riscv import note as notes

KEY: Final = "lines"
TARGET: Final = "minion"


@dataclass(frozen=True, slots=True)
class Lines:
    """`addresses` rise; `places` are (file, line) of each."""

    addresses: tuple[int, ...] = ()
    places: tuple[tuple[str, int], ...] = ()

    def at(self, address: int) -> tuple[str, int] | None:
        """The file and line of an address; None before the first, and where the line is 0 (no line)."""
        number = bisect_right(self.addresses, address) - 1
        place = self.places[number] if number >= 0 else None
        return None if place is None or not place[1] else place


def encode(lines: Mapping[int, tuple[str, int]]) -> dict[str, list[list[int]]]:
    """What stands in the note, of (file, line) by address, without the folders of files. A line that repeats the one
    before is left out."""
    found: dict[str, list[list[int]]] = {}
    last: tuple[str, int] | None = None
    for address, place in sorted(lines.items()):
        if place != last:
            found.setdefault(PurePath(place[0]).name, []).append([address, place[1]])
        last = place
    return found


def decode(data: bytes) -> Lines:
    """Those of an ELF file; none where neither a note of this target nor debugging information tells any."""
    return notes.read(data, _lines) or _sorted(debug_lines.lines(data))


def _sorted(lines: Mapping[int, tuple[str, int]]) -> Lines:
    rows = sorted(lines.items())
    return Lines(tuple(at for at, _ in rows), tuple(place for _, place in rows))


def _lines(made: dict[str, Any]) -> Lines | None:
    if made.get("target") != TARGET:
        return None
    by_file = cast("dict[str, list[list[int]]]", made.get(KEY, {}))
    rows = sorted((int(at), str(file), int(line)) for file, pairs in by_file.items() for at, line in pairs)
    return Lines(tuple(at for at, _, _ in rows), tuple((file, line) for _, file, line in rows))
