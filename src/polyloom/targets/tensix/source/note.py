# SPDX-License-Identifier: Apache-2.0
"""Note in the executable of a vector kernel: what the kernel is called and takes, where its data are, and where each
word comes from (docs/formats.md).

The text is one JSON object with sorted keys, so that equal kernels have equal files.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Final

from polyloom.files import recorded_name
from polyloom.riscv import note as notes
from polyloom.riscv import source_lines
from polyloom.riscv.source_lines import Lines
from polyloom.targets.tensix.source.driver import CALLS, SETUP
from polyloom.targets.tensix.source.prints import COUNT, LOG, LOG_BYTES
from polyloom.targets.tensix.words.isa import MEMBERS, Member

TARGET: Final = "tensix"
VERSION: Final = 2
_L1: Final = 0x170000


@dataclass(frozen=True, slots=True)
class Note:
    """Content of the note. `dest` is 16 or 32, `per` face or tile; `arguments` are addresses by the name of a
    parameter; `data` has those of the driver's own; `lines` are the places of all words, `texts` the lines of the
    source that they name, by file and number; `facts` is what is known of the program without running it.
    """

    kernel: str
    member: Member
    dest: int
    per: str
    arguments: Mapping[str, int]
    data: Mapping[str, int]
    lines: Lines = field(default_factory=Lines)
    texts: Mapping[str, Mapping[str, str]] = field(default_factory=dict[str, Mapping[str, str]])
    facts: Mapping[str, int] = field(default_factory=dict[str, int])


def encode(note: Note) -> bytes:
    """Serialization of the note as JSON (docs/formats.md)."""
    made = {"version": VERSION, "target": TARGET, **asdict(replace(note, lines=Lines()))}
    made[source_lines.KEY] = source_lines.encode_lines(dict(zip(note.lines.addresses, note.lines.places, strict=True)))
    return notes.note_text(made)


def decode(data: bytes) -> Note | None:
    """Note of an ELF file; None where it has none of this target."""
    return notes.read_note(data, _parse_note)


def _parse_note(made: dict[str, Any]) -> Note | None:
    if made["target"] != TARGET or made["version"] != VERSION:
        return None
    # A file may come from anywhere: what a run would use is checked here once.
    if made["member"] not in MEMBERS or made["dest"] not in (16, 32) or made["per"] not in ("face", "tile"):
        return None
    return Note(
        str(made["kernel"]),
        made["member"],
        made["dest"],
        made["per"],
        _parse_addresses(made["arguments"]),
        _driver_addresses(made["data"]),
        source_lines.note_lines(made),
        {recorded_name(f): {str(n): str(t) for n, t in texts.items()} for f, texts in made[source_lines.TEXTS].items()},
        _parse_numbers(made["facts"]),
    )


def _parse_numbers(made: dict[str, Any]) -> dict[str, int]:
    return {str(name): int(value) for name, value in made.items()}


def _parse_addresses(made: dict[str, Any]) -> dict[str, int]:
    """Addresses, each of a word in L1, of which both members have as much. Errors: ValueError."""
    found = _parse_numbers(made)
    if any(not 0 <= address <= _L1 - 4 for address in found.values()):
        # The common reader takes it for a file of another kind, which is reported as such.
        raise ValueError
    return found


def _driver_addresses(made: dict[str, Any]) -> dict[str, int]:
    """Addresses of the driver's own data, all of them. Errors: ValueError, KeyError."""
    found = _parse_addresses(made)
    if LOG in found and (found[COUNT] < 0 or found[LOG] > _L1 - LOG_BYTES):
        raise ValueError
    return {name: found[name] for name in (*SETUP, CALLS, *((LOG, COUNT) if LOG in found else ()))}
