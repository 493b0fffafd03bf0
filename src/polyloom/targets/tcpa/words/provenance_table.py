# SPDX-License-Identifier: Apache-2.0
"""Provenance table: where the operations of a program come from, as its symbolic file has it among the names: files,
lines of them with their text, reasons, and for each operation one number of a line, columns and perhaps a reason
(docs/formats.md).

A table holds each value once, in the order of first use, so that equal origins are equal bytes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from polyloom import binary
from polyloom.binary import Codec, Reader, counted_list, fixed_list, natural, optional, record, source_name, text
from polyloom.ir.pla import Equation
from polyloom.targets.provenance import Provenance, provenance

Origins = tuple[Provenance, ...]
_NOWHERE: Final = Provenance("", 0, 0, 0, "")


@dataclass(frozen=True, slots=True)
class _Line:
    file: int
    line: int
    statement: str


@dataclass(frozen=True, slots=True)
class _Place:
    line: int
    column: int
    end_column: int
    reason: int | None


def collect_origins(equations: Iterable[Equation]) -> Origins:
    """One per equation; nothing where none of them has any."""
    found = [provenance(e.span, e.reason) for e in equations]
    return tuple(p or _NOWHERE for p in found) if any(found) else ()


def codec(nodes: int) -> Codec[Origins]:
    """Codec of the provenance of so many operations, or of none."""
    place = natural("the number of operations with a place", nodes + 1)

    def write(out: bytearray, value: Origins) -> None:
        files = tuple(dict.fromkeys(p.file for p in value))
        lines = tuple(dict.fromkeys(_Line(files.index(p.file), p.line, p.statement) for p in value))
        reasons = tuple(dict.fromkeys(p.reason for p in value if p.reason))
        place.write(out, len(value))
        if not value:
            return
        _files.write(out, files)
        _lines(len(files)).write(out, lines)
        _reasons.write(out, reasons)
        number = {line: n for n, line in enumerate(lines)}
        why = {reason: n for n, reason in enumerate(reasons)}
        places = (
            _Place(number[_Line(files.index(p.file), p.line, p.statement)], p.column, p.end_column, why.get(p.reason))
            for p in value
        )
        fixed_list(_place(len(lines)), len(value)).write(out, tuple(places))

    def read(reader: Reader) -> Origins:
        at, count = reader.position, place.read(reader)
        if not count:
            return ()
        # All operations or none: a program whose source is known has a place for each of them.
        if count != nodes:
            raise binary.format_error(at, f"{count} operations have a place, of {nodes}")
        files = _files.read(reader)
        lines, reasons = _lines(len(files)).read(reader), _reasons.read(reader)
        places = fixed_list(_place(len(lines)), count).read(reader)
        return tuple(_provenance(p, files, lines, reasons, at) for p in places)

    return Codec(write, read)


def _provenance(
    place: _Place, files: Sequence[str], lines: Sequence[_Line], reasons: Sequence[str], at: int
) -> Provenance:
    line = lines[place.line]
    if place.reason is not None and place.reason >= len(reasons):
        raise binary.format_error(at, f"there is no reason {place.reason}")
    reason = "" if place.reason is None else reasons[place.reason]
    return Provenance(files[line.file], line.line, place.column, place.end_column, line.statement, reason)


_files: Final = counted_list(source_name, natural("the number of files"))
_reasons: Final = counted_list(text, natural("the number of reasons"))


def _lines(files: int) -> Codec[tuple[_Line, ...]]:
    line = record(_Line, file=natural("a file", files), line=natural("a line"), statement=text)
    return counted_list(line, natural("the number of lines"))


def _place(lines: int) -> Codec[_Place]:
    return record(
        _Place,
        line=natural("a line's number", lines),
        column=natural("a column"),
        end_column=natural("a column"),
        reason=optional("a reason"),
    )
