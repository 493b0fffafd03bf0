# SPDX-License-Identifier: Apache-2.0
"""Source lines of executables that other compilers made with -g: the line number programs of `.debug_line`.

Versions 2 to 5, little-endian; what is not understood is left out, since lines only make messages better. Source: the
DWARF Debugging Information Format, version 5 (2017), section 6.2.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from polyloom.riscv import symbols

Place = tuple[str, int]
_PATH: Final = 1
"""The content type of a name in a table of files."""
_FIXED: Final = {0x0B: 1, 0x05: 2, 0x06: 4, 0x07: 8, 0x1E: 16}
"""Bytes of the forms data1, data2, data4, data8, data16."""
_STRING, _BLOCK, _UDATA, _STRP, _LINE_STRP = 0x08, 0x09, 0x0F, 0x0E, 0x1F


def source_lines(data: bytes) -> Mapping[int, Place]:
    """Line table: (file, line) by the address from which on it holds; line 0 where a sequence of code ends."""
    section = symbols.section_bytes(data, b".debug_line")
    if section is None:
        return {}
    strings = {
        _STRP: symbols.section_bytes(data, b".debug_str") or b"",
        _LINE_STRP: symbols.section_bytes(data, b".debug_line_str") or b"",
    }
    found: dict[int, Place] = {}
    ends: set[int] = set()
    try:
        for address, place in _line_programs(section, strings):
            if place is None:
                ends.add(address)
            else:
                found[address] = place
    except (struct.error, IndexError, ValueError):
        # A damaged section costs lines, not the run.
        pass  # what was read before the damage stands
    return {**dict.fromkeys(ends, ("", 0)), **found}


@dataclass(slots=True)  # a cursor
class _Reader:
    """Cursor over bytes."""

    data: bytes
    at: int = 0

    def number(self, size: int) -> int:
        """Errors: struct.error behind the end."""
        if self.at + size > len(self.data):
            raise struct.error
        self.at += size
        return int.from_bytes(self.data[self.at - size : self.at], "little")

    def signed(self) -> int:
        """A number of one byte."""
        return (self.number(1) ^ 0x80) - 0x80

    def uleb(self) -> int:
        """Unsigned LEB128 (DWARF 5, section 7.6). The result is cut to 64 bits."""
        found = shift = 0
        while True:
            byte = self.number(1)
            found |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return found & (1 << 64) - 1

    def sleb(self) -> int:
        """Signed LEB128 (DWARF 5, section 7.6): bit 6 of the last byte is the sign."""
        start = self.at
        found, bits = self.uleb(), 7 * (self.at - start)
        return found - (1 << bits) if bits <= 63 and found >> bits - 1 & 1 else found

    def string(self) -> str:
        end = self.data.index(b"\0", self.at)
        found = self.data[self.at : end]
        self.at = end + 1
        return found.decode("utf-8", "replace")


@dataclass(frozen=True, slots=True)
class _Header:
    """Header of a line number program (DWARF 5, section 6.2.4): minimum instruction length, line base and range,
    lengths of the standard opcodes, and files by number.
    """

    step: int
    base: int
    range: int
    lengths: tuple[int, ...]
    files: Mapping[int, str]


def _line_programs(section: bytes, strings: Mapping[int, bytes]) -> Iterator[tuple[int, Place | None]]:
    """Rows of all units. A length of 0xffffffff announces the 64-bit format (DWARF 5, section 7.4)."""
    at = 0
    while at + 4 <= len(section):
        reader = _Reader(section, at)
        length, wide = reader.number(4), 4
        if length == 0xFFFFFFFF:
            length, wide = reader.number(8), 8
        at = reader.at + length
        unit = _Reader(section[: min(at, len(section))], reader.at)
        if 2 <= (version := unit.number(2)) <= 5:
            header = _read_header(unit, version, wide, strings)
            yield from _run_program(unit, header)


def _read_header(unit: _Reader, version: int, wide: int, strings: Mapping[int, bytes]) -> _Header:
    """Header of a unit; the reader stands at the first opcode afterwards (DWARF 5, section 6.2.4)."""
    if version == 5:
        unit.number(2)  # sizes of an address and of a segment's selector
    program = unit.number(wide) + unit.at
    step = unit.number(1)
    unit.number(2 if version >= 4 else 1)  # operations per instruction; whether rows begin statements
    base, span, first = unit.signed(), unit.number(1), unit.number(1)
    if not span or not first:
        raise ValueError
    lengths = tuple(unit.number(1) for _ in range(first - 1))
    files = _read_files(unit, strings, wide) if version == 5 else _read_old_files(unit)
    unit.at = program
    return _Header(step, base, span, lengths, files)


def _read_old_files(unit: _Reader) -> dict[int, str]:
    """File table of versions 2 to 4: folders, then files from 1 on, both ended by an empty name (DWARF 4, section
    6.2.4).
    """
    while unit.string():
        pass
    found: dict[int, str] = {}
    while name := unit.string():
        found[len(found) + 1] = name
        for _ in range(3):
            unit.uleb()
    return found


def _read_files(unit: _Reader, strings: Mapping[int, bytes], wide: int) -> dict[int, str]:
    """File table of version 5: both tables say how their entries are written; files count from 0 (DWARF 5, section
    6.2.4.1).
    """
    _read_entries(unit, strings, wide)
    return dict(enumerate(_read_entries(unit, strings, wide)))


def _read_entries(unit: _Reader, strings: Mapping[int, bytes], wide: int) -> list[str]:
    formats = [(unit.uleb(), unit.uleb()) for _ in range(unit.number(1))]
    count = unit.uleb()
    if count > len(unit.data):
        raise ValueError
    return [_read_entry(unit, formats, strings, wide) for _ in range(count)]


def _read_entry(unit: _Reader, formats: list[tuple[int, int]], strings: Mapping[int, bytes], wide: int) -> str:
    name = ""
    for content, form in formats:
        value = _read_form(unit, form, strings, wide)
        if content == _PATH and isinstance(value, str):
            name = value
    return name


def _read_form(unit: _Reader, form: int, strings: Mapping[int, bytes], wide: int) -> str | int:
    """Value of a form (DWARF 5, section 7.5.6), as far as line tables use them. Errors: ValueError for others."""
    if form == _STRING:
        return unit.string()
    if form in strings:
        return _Reader(strings[form], unit.number(wide)).string()
    if form == _UDATA:
        return unit.uleb()
    if form == _BLOCK:
        unit.at += unit.uleb()
        return 0
    return unit.number(_FIXED[form]) if form in _FIXED else _unknown_form()


def _unknown_form() -> int:
    raise ValueError


def _run_program(unit: _Reader, header: _Header) -> Iterator[tuple[int, Place | None]]:
    """State machine of a line number program (DWARF 5, section 6.2.2): the address and place of each row; None ends a
    sequence.
    """
    address, file, line = 0, 1, 1
    first = len(header.lengths) + 1
    while unit.at < len(unit.data):
        operation = unit.number(1)
        row = False
        # A special opcode advances address and line together (DWARF 5, section 6.2.5.1).
        if operation >= first:
            advance, delta = divmod(operation - first, header.range)
            address, line, row = address + advance * header.step, line + header.base + delta, True
        elif operation == 0:
            end = unit.uleb() + unit.at
            kind = unit.number(1)
            if kind == 1:
                yield address, None
                address, file, line = 0, 1, 1
            elif kind == 2:
                address = unit.number(end - unit.at)
            # The length skips what is not known of an extended opcode.
            unit.at = end
        elif operation == 1:
            row = True
        elif operation == 2:
            address += unit.uleb() * header.step
        elif operation == 3:
            line += unit.sleb()
        elif operation == 4:
            file = unit.uleb()
        elif operation == 8:
            address += (255 - first) // header.range * header.step
        elif operation == 9:
            address += unit.number(2)
        else:
            for _ in range(header.lengths[operation - 1]):
                unit.uleb()
        if row:
            yield address, (header.files[file], max(line, 0)) if file in header.files else ("", 0)
