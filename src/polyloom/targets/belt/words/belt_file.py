# SPDX-License-Identifier: Apache-2.0
"""Object files of the belt machine (`.belt`, docs/formats.md, Belt programs): the container of `polyloom.binary` around
what the model reads (member, data, words), the note with member and signature, and the names that a listing shows.

A file has one form: what was read is written again and compared.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Final, cast

from polyloom import binary
from polyloom.binary import Codec, FileKind, Reader, counted_list, fixed_integer, natural, optional, record, section
from polyloom.diagnostics import PolyloomError, input_error
from polyloom.ir.signature import Signature
from polyloom.ir.signature_json import as_json, from_json
from polyloom.ir.ssa import Data, Place
from polyloom.targets.belt import machine
from polyloom.targets.belt.isa import ROWS
from polyloom.targets.belt.machine import Machine
from polyloom.targets.belt.value_types import BYTES, Width
from polyloom.targets.belt.words import facts_json, layout
from polyloom.targets.belt.words.decode import decode
from polyloom.targets.belt.words.encode import encode
from polyloom.targets.belt.words.program import Bundle, Note, Program, Routine, sort_by_slot

# Magic, title, version, sections: machine, data, code, note, names (docs/formats.md, Belt programs).
KIND: Final = FileKind(b"PLBP", "belt program", 3, 5)
VERSION: Final = 1
"""Of the note."""
Notes = tuple[tuple[Note, ...], ...]
"""Of every bundle of every routine."""


@dataclass(frozen=True, slots=True)
class File:
    """Content of a file, decoded."""

    program: Program
    signature: Signature
    machine: Machine


def owns(data: bytes) -> bool:
    """Whether the first bytes are those of a belt program."""
    return data.startswith(KIND.magic)


def write(program: Program, signature: Signature) -> bytes:
    """Encode a program as a file; its `description` is that of the member. Errors: PL1003, PL1004, of the
    description."""
    member = machine.read(program.description, program.member)
    sections = (
        _machine_section(member),
        section(_DATA, _Memory(_place_data(program.data), tuple(map(_WIDTHS.index, program.memory_arguments)))),
        encode(program),
        section(binary.text, _note(member, signature, program.told)),
        section(_NAMES, _Names.collect(_names(program), tuple(d.name for d in program.data), _notes(program))),
    )
    return binary.pack(KIND, member.fingerprint, sections)


def read(data: bytes, on: Machine | None = None) -> File:
    """Decode a file to its program, signature and member. Errors: PL0701 to PL0705, PL1005, and PL1006 unless it is for
    `on`."""
    file = _read(data)
    if on is not None and on != file.machine:
        help = f"compile the function for '{on.name}', or leave --on out"
        raise member_mismatch(file.machine, on, help)
    return file


@lru_cache(maxsize=4)
def _read(data: bytes) -> File:
    """Decoded file, kept: a run asks for its file several times, for signature, facts, counts, report and trace."""
    stamp, (_, data_at, code, note_at, names_at) = binary.unpack(KIND, data)
    member, signature, text = _read_note(note_at)
    names = _read_section(_NAMES, names_at)
    # Calls and addresses name routines and data, so that a second one of a name could never be meant.
    if any(len(set(some)) < len(some) for some in (names.routines, names.data)):
        raise binary.format_error(names_at.position, "two routines, or two data, have one name")
    found = decode(code.take(code.end - code.position), member, names.routines)
    memory = _read_memory(data_at)
    # The hash in the head and the description in the note must be of one member: the model reads the one, people the
    # other.
    if len(memory.data) != len(names.data) or stamp != member.fingerprint:
        raise binary.format_error(
            names_at.position, "the names of data, or the hash of the member, do not fit the file"
        )
    made = tuple(Data(n, d.initial, d.align, bool(d.constant)) for n, d in zip(names.data, memory.data, strict=True))
    widths = tuple(_WIDTHS[k] for k in memory.arguments)
    program = replace(_with_notes(found, names.read(names_at), names_at), data=made, memory_arguments=widths, told=text)
    _check_facts(program, note_at)
    # One byte form per program: two files are the same program if and only if their bytes are equal.
    binary.check_canonical(data, _rewrite_file(program, signature, data_at))
    return File(program, signature, member)


@dataclass(frozen=True, slots=True)
class Parts:
    """Sections that the model gets: sections 0 and 2 as they are, and the named data, (address, bytes, constant) each.

    `arguments` are the widths, as numbers, of those in memory, whose block is then the last datum. `routines` are names
    for messages.
    """

    machine: bytes
    data: tuple[tuple[int, bytes, bool], ...]
    code: bytes
    arguments: tuple[int, ...]
    routines: tuple[str, ...]


def parts(data: bytes) -> Parts:
    """Sections of a file, of which only data and names are read. Errors: PL0701 to PL0705."""
    _, (machine_at, data_at, code, _, names_at) = binary.unpack(KIND, data)
    memory = _read_memory(data_at)
    placed = tuple((d.address, d.initial, bool(d.constant)) for d in memory.data)
    machine_bytes, words = (at.take(at.end - at.position) for at in (machine_at, code))
    return Parts(machine_bytes, placed, words, memory.arguments, _read_section(_NAMES, names_at).routines)


def _rewrite_file(program: Program, signature: Signature, at: Reader) -> bytes:
    """Bytes of the file written once more; alignments can be such that no address is left (PL1005)."""
    try:
        return write(program, signature)
    except PolyloomError as error:
        raise binary.format_error(at.position, error.diagnostics[0].message) from None


def member_mismatch(member: Machine, on: Machine, help: str) -> PolyloomError:
    """Error PL1006: the program is for another member than the one it is to run on."""
    phases = "" if on.phasing == member.phasing or on.name != member.name else ", with other phases"
    return input_error(
        "PL1006",
        f"this belt program is for the member '{member.name}'{phases}, not for '{on.name}'",
        help=help,
    )


def _machine_section(member: Machine) -> bytes:
    """Machine section: what the model knows of the member (docs/formats.md, Belt programs). The model reads no TOML."""
    head = (member.belt, member.vector, int(member.phasing), *member.load, member.stations, 0, 0)
    # A load's latency is the delay that its own word states, so that the table has none.
    table = (0 if op.latency == "load" else member.latency(op, width) for op in ROWS for width in BYTES)
    sizes = member.scratch.to_bytes(4, "little") + len(ROWS).to_bytes(2, "little")
    return bytes(head) + sizes + bytes(table)


@dataclass(frozen=True, slots=True)
class _Placed:
    """Named data at an address."""

    address: int
    align: int
    constant: int
    initial: bytes


@dataclass(frozen=True, slots=True)
class _Memory:
    """Data section: the named data, and the widths of arguments in memory, as numbers."""

    data: tuple[_Placed, ...]
    arguments: tuple[int, ...]


def _read_memory(at: Reader) -> _Memory:
    """Data section; PL0705 where the last datum is not what the arguments in memory need."""
    start = at.position
    memory: _Memory = _read_section(_DATA, at)
    if memory.arguments:
        # Zeros, so that a program has one form: the bytes are those of a run.
        wanted = bytes(layout.ARGUMENT_BYTES * len(memory.arguments))
        if not memory.data or memory.data[-1].initial != wanted or memory.data[-1].constant:
            raise binary.format_error(start, "the last datum is no block of the arguments in memory")
    return memory


def _place_data(data: tuple[Data, ...]) -> tuple[_Placed, ...]:
    at = layout.data_addresses(data)
    return tuple(_Placed(at[d.name], d.align, int(d.constant), d.initial) for d in data)


def _write_bytes(out: bytearray, value: bytes) -> None:
    _LENGTH.write(out, len(value))
    out.extend(value)


# Codecs stand behind what they name: a record's fields are given as values, not as strings.
_LENGTH: Final = natural("length of data")
_BYTES: Final[Codec[bytes]] = Codec(_write_bytes, lambda reader: reader.take(_LENGTH.read(reader)))
_PLACED: Final = record(
    _Placed,
    address=fixed_integer(4, "address"),
    align=natural("alignment", 1 << 31),
    constant=fixed_integer(1, "constant", limit=2),
    initial=_BYTES,
)
_WIDTHS: Final[tuple[Width, ...]] = tuple(w for w in BYTES if BYTES[w] <= layout.ARGUMENT_BYTES)
_WIDTH: Final = fixed_integer(1, "width of an argument", limit=len(_WIDTHS))
_DATA: Final = record(
    _Memory,
    data=counted_list(_PLACED, natural("data")),
    arguments=counted_list(_WIDTH, natural("arguments in memory")),
)


@dataclass(frozen=True, slots=True)
class _Noted:
    """Note of an operation, with the number of its place."""

    operands: tuple[str, ...]
    results: tuple[str, ...]
    stage: int | None
    place: int


@dataclass(frozen=True, slots=True)
class _Names:
    """Names section. Different places once, in the order of first use: most operations of a line share one."""

    routines: tuple[str, ...]
    data: tuple[str, ...]
    places: tuple[Place, ...]
    notes: tuple[tuple[_Noted, ...], ...]

    @staticmethod
    def collect(routines: tuple[str, ...], data: tuple[str, ...], notes: Notes) -> _Names:
        # `dict.fromkeys` keeps the order of first use, which makes the numbers the same in every run.
        places = {place: k for k, place in enumerate(dict.fromkeys(note.place for row in notes for note in row))}
        noted = tuple(tuple(_Noted(n.operands, n.results, n.stage, places[n.place]) for n in row) for row in notes)
        return _Names(routines, data, tuple(places), noted)

    def read(self, at: Reader) -> Notes:
        """Notes with their places; PL1005 for a number without a place."""
        if any(note.place >= len(self.places) for row in self.notes for note in row):
            raise binary.format_error(at.position, "an operation comes from a place that is not listed")
        return tuple(
            tuple(Note(n.operands, n.results, n.stage, self.places[n.place]) for n in row) for row in self.notes
        )


_TEXTS: Final = counted_list(binary.text, natural("texts"))
_PLACE: Final = record(
    Place, file=binary.source_name, line=natural("line"), column=natural("column"), reason=binary.text
)
_PLACES: Final[Codec[tuple[Place, ...]]] = counted_list(_PLACE, natural("places"))
_NOTE: Final = record(_Noted, operands=_TEXTS, results=_TEXTS, stage=optional("stage"), place=natural("place"))
_NOTES: Final[Codec[tuple[tuple[_Noted, ...], ...]]] = counted_list(
    counted_list(_NOTE, natural("notes")), natural("bundles")
)
_NAMES: Final = record(_Names, routines=_TEXTS, data=_TEXTS, places=_PLACES, notes=_NOTES)


def _names(program: Program) -> tuple[str, ...]:
    return tuple(routine.name for routine in program.routines)


def _notes(program: Program) -> Notes:
    """Notes beside the operations in the order of words; nothing where no bundle has any."""
    found = tuple(sort_by_slot(bundle)[1] for routine in program.routines for bundle in routine.bundles)
    return found if any(found) else ()


def _with_notes(program: Program, notes: Notes, at: Reader) -> Program:
    """Program with its notes; PL1005 where their number is not that of the operations."""
    bundles = [bundle for routine in program.routines for bundle in routine.bundles]
    if not notes:
        return program
    if len(notes) != len(bundles) or any(n and len(n) != len(b.issues) for n, b in zip(notes, bundles, strict=True)):
        raise binary.format_error(at.position, "the notes do not fit the operations")
    rest = iter(notes)
    return replace(program, routines=tuple(_attach_notes(routine, rest) for routine in program.routines))


def _attach_notes(routine: Routine, notes: Any) -> Routine:
    bundles: tuple[Bundle, ...] = tuple(replace(bundle, notes=next(notes)) for bundle in routine.bundles)
    return replace(routine, bundles=bundles)


def _note(member: Machine, signature: Signature, text: str) -> str:
    """Note section as canonical JSON: version, member, its description, what the specializer tells, and the
    signature."""
    own = {"version": VERSION, "member": member.name, "description": member.description, "told": json.loads(text)}
    made = {**own, **as_json(signature)}
    return json.dumps(made, sort_keys=True, separators=(",", ":"))


def _read_note(reader: Reader) -> tuple[Machine, Signature, str]:
    """Member, signature and facts of a note; PL0705 where it is not as written."""
    at = reader.position
    try:
        made = cast("dict[str, Any]", json.loads(binary.text.read(reader)))
        if made["version"] != VERSION:
            raise ValueError
        found = (
            machine.read(str(made["description"]), str(made["member"])),
            from_json(made),
            facts_json.canonical_json(made["told"]),
        )
    # Anybody may have written this JSON: every way in which it can be of other types is one message.
    except (ValueError, KeyError, TypeError, RecursionError, OverflowError, AttributeError):
        raise binary.format_error(at, "the note is not written as the format says") from None
    return found


def _check_facts(program: Program, at: Reader) -> None:
    try:
        facts_json.parse_facts(program)
    except (ValueError, KeyError, TypeError, RecursionError):
        raise binary.format_error(at.position, "what the note tells of loops does not fit the code") from None


def _read_section(codec: Codec[Any], reader: Reader) -> Any:
    """Value of a section that must end where its content ends; PL1005."""
    value = codec.read(reader)
    if reader.position != reader.end:
        raise binary.format_error(reader.position, "the section goes on after its content")
    return value
