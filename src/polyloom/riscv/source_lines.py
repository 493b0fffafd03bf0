# SPDX-License-Identifier: Apache-2.0
"""Lines of the source in an executable of ours: from which address on which line of which file.

They stand in the note (note.py) under `lines`, by file: `{"k.c": [[address, line], ...]}`. A line holds until the next
address that is listed. Other compilers put theirs into `.debug_line`, which debug_lines.py reads.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any, Final, cast

from polyloom.ir.ssa import Place
from polyloom.riscv import debug_lines
from polyloom.riscv import note as notes

KEY: Final = "lines"


@dataclass(frozen=True, slots=True)
class Lines:
    """`addresses` rise; `places` are (file, line) of each, line 0 where none is known."""

    addresses: tuple[int, ...] = ()
    places: tuple[tuple[str, int], ...] = ()

    def at(self, address: int) -> tuple[str, int] | None:
        """The file and line of an address."""
        number = bisect_right(self.addresses, address) - 1
        place = self.places[number] if number >= 0 else None
        return place if place is not None and place[1] else None


def encode(places: Mapping[int, Place]) -> dict[str, list[list[int]]]:
    """What stands in the note; a file that is named by an absolute path loses its folders. A line that repeats the one
    before is left out."""
    found: dict[str, list[list[int]]] = {}
    last: tuple[str, int] | None = None
    for address, place in sorted(places.items()):
        path = PurePath(place.file)
        here = (path.name if path.is_absolute() else place.file), place.line
        if here != last:
            found.setdefault(here[0], []).append([address, here[1]])
        last = here
    return found


def decode(data: bytes) -> Lines:
    """Those of an ELF file, by its note or by debugging information; none where neither tells any."""
    return notes.read(data, _lines) or _sorted(debug_lines.lines(data))


def _lines(made: dict[str, Any]) -> Lines | None:
    if made.get("target") != notes.TARGET:
        return None
    by_file = cast("dict[str, list[list[int]]]", made.get(KEY, {}))
    return _sorted({int(at): (str(file), int(line)) for file, pairs in by_file.items() for at, line in pairs})


def _sorted(lines: Mapping[int, tuple[str, int]]) -> Lines:
    rows = sorted(lines.items())
    return Lines(tuple(at for at, _ in rows), tuple(place for _, place in rows))
