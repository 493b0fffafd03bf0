# SPDX-License-Identifier: Apache-2.0
"""ELF sections and symbols: written behind an executable of functions, and read from any.

Sources: the Tool Interface Standard's ELF specification, version 1.2 (1995), "Sections" and "Symbol Table".
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from polyloom.diagnostics import input_error

_PROGBITS, _SYMTAB, _STRTAB = 1, 2, 3
_ALLOCATED, _EXECUTED, _COMPRESSED = 2, 4, 0x800
_FUNCTION, _OBJECT = 0x12, 0x11
"""Global symbols of a function, and of data."""
_ABSOLUTE: Final = 0xFFF1
"""The section of a symbol that is an address, whatever is there."""
_KINDS: Final = (0, 2)
"""Symbols that label code: of no type, and of functions."""
_NAMES: Final = b"\0.text\0.symtab\0.strtab\0.shstrtab\0.note.polyloom\0"
_NOTE: Final = 7
OWNER: Final = b"polyloom"
"""The name of our notes."""
COUNT: Final = 6
"""Sections that `section_tables` writes, the empty first one among them; the last one names them."""


@dataclass(frozen=True, slots=True)
class Code:
    """Code and its symbols: where code is in memory and in the file, and where each function begins in it; they follow
    one another. Data that have names have an address and a size.
    """

    address: int
    offset: int
    size: int
    functions: tuple[tuple[str, int], ...]
    data: tuple[tuple[str, int, int], ...] = ()


def section_tables(code: Code, place: int, wide: bool, note: bytes = b"") -> tuple[bytes, int]:
    """Symbol table, string tables, note and section headers: their bytes, which stand from `place` in the file on, and
    the offset of the section headers. `read_note` is the text of our note.
    """
    # The first symbol and the first string are empty (ELF specification, "Symbol Table").
    strings, entries = b"\0", [_pack_symbol(wide, 0, 0, 0, 0, 0)]
    ends = [*(begin for _, begin in code.functions), code.size][1:]
    for (name, begin), end in zip(code.functions, ends, strict=True):
        entries.append(_pack_symbol(wide, len(strings), _FUNCTION, 1, code.address + begin, end - begin))
        strings += name.encode() + b"\0"
    for name, address, size in code.data:
        entries.append(_pack_symbol(wide, len(strings), _OBJECT, _ABSOLUTE, address, size))
        strings += name.encode() + b"\0"
    contents = bytes(-place % 8) + b"".join(entries)
    start = place + -place % 8
    table = (start, len(contents) - -place % 8)
    names = (start + table[1], len(strings))
    own = (names[0] + names[1], len(_NAMES))
    contents += strings + _NAMES
    contents += bytes(-(place + len(contents)) % 8)
    noted = (place + len(contents), len(packed := _pack_note(note)))
    contents += packed
    contents += bytes(-(place + len(contents)) % 8)
    text = (_PROGBITS, _ALLOCATED | _EXECUTED, code.address, code.offset, code.size, 0, 0, 2, 0)
    sections = [
        (0, *[0] * 9),
        (1, *text),
        # sh_link is the string table, sh_info the number of the first symbol that is not local.
        (7, _SYMTAB, 0, 0, *table, 3, 1, 8, len(entries[0])),
        (15, _STRTAB, 0, 0, *names, 0, 0, 1, 0),
        (33, _NOTE, 0, 0, *noted, 0, 0, 4, 0),
        (23, _STRTAB, 0, 0, *own, 0, 0, 1, 0),
    ]
    form = "<IIQQQQIIQQ" if wide else "<IIIIIIIIII"
    return contents + b"".join(struct.pack(form, *section) for section in sections), place + len(contents)


def _pack_note(text: bytes) -> bytes:
    """Note of type 1: lengths, the owner's name, the text, each padded to four bytes (ELF specification, "Note
    Section").
    """
    owner = OWNER + b"\0"
    return struct.pack("<III", len(owner), len(text), 1) + owner + bytes(-len(owner) % 4) + text + bytes(-len(text) % 4)


def read_note(data: bytes) -> bytes | None:
    """Text of our note in an ELF file; None where there is none, or the file is broken."""
    try:
        return next(_polyloom_notes(data, _section_headers(data, data[4] == 2)), None)
    except (struct.error, IndexError, OverflowError, ValueError):
        return None


def _polyloom_notes(data: bytes, sections: Sequence[tuple[int, ...]]) -> Iterator[bytes]:
    for section in sections:
        if section[1] == _NOTE:
            start = section[4]
            named, length, _ = struct.unpack_from("<III", data, start)
            if data[start + 12 : start + 12 + named] == OWNER + b"\0":
                begin = start + 12 + named + -named % 4
                yield data[begin : begin + length]


def _pack_symbol(wide: bool, name: int, kind: int, section: int, address: int, size: int) -> bytes:
    """Symbol table entry, of 24 or 16 bytes (ELF specification, figure 1-16 for the 32-bit one)."""
    return (
        struct.pack("<IBBHQQ", name, kind, 0, section, address, size)
        if wide
        else struct.pack("<IIIBBH", name, address, size, kind, 0, section)
    )


@dataclass(frozen=True, slots=True)
class Tables:
    """Symbols and code sections of a file: names by address, but for the local ones of assemblers; and addresses and
    bytes of sections that are code.
    """

    names: dict[int, str]
    code: tuple[tuple[int, bytes], ...]


def read_tables(data: bytes) -> Tables:
    """Symbols and code sections of a RISC-V executable, which may have none of them. Errors: PL0910."""
    wide = data[4] == 2
    try:
        sections = _section_headers(data, wide)
        names = {
            address: name
            for address, name in _code_symbols(data, sections, wide)
            if name and not name.startswith((".L", "$"))
        }
    except (struct.error, IndexError, OverflowError, ValueError):
        raise input_error(
            "PL0910", "the sections or symbols of the ELF file are broken", help="link it again, or strip it"
        ) from None
    # Headers could name the same bytes again and again, each of which would be copied.
    if sum(min(s[5], len(data)) for s in sections if s[1] == _PROGBITS) > 2 * len(data):
        raise input_error(
            "PL0910", "the sections of the ELF file overlap in the file", help="link it again, or strip it"
        )
    return Tables(
        names, tuple((s[3], data[s[4] : s[4] + s[5]]) for s in sections if s[1] == _PROGBITS and s[2] & _EXECUTED)
    )


def symbol_extents(data: bytes) -> dict[str, tuple[int, int]]:
    """Address and size of every named symbol, whatever it labels. Errors: PL0910."""
    wide = data[4] == 2
    try:
        found = list(_defined_symbols(data, _section_headers(data, wide), wide))
    except (struct.error, IndexError, OverflowError, ValueError):
        raise input_error(
            "PL0910", "the sections or symbols of the ELF file are broken", help="link it again"
        ) from None
    return {name: (address, size) for name, _, address, size in found if name}


def section_bytes(data: bytes, name: bytes) -> bytes | None:
    """Bytes of the section of a name; None where there is none, or it is compressed, or the file is broken."""
    wide = data[4:5] == b"\x02"
    try:
        found = _section_headers(data, wide)
        names = found[int.from_bytes(data[62:64] if wide else data[50:52], "little")]
        strings = data[names[4] : names[4] + names[5]]
        for each in found:
            if strings[each[0] : strings.index(b"\0", each[0])] == name:
                return None if each[2] & _COMPRESSED else data[each[4] : each[4] + each[5]]
    except (struct.error, IndexError, OverflowError, ValueError):
        pass
    return None


def _section_headers(data: bytes, wide: bool) -> list[tuple[int, ...]]:
    """Section headers: e_shoff, e_shentsize and e_shnum say where they are."""
    place, size, count = (
        *struct.unpack_from("<Q" if wide else "<I", data, 40 if wide else 32),
        *struct.unpack_from("<HH", data, 58 if wide else 46),
    )
    return [struct.unpack_from("<IIQQQQIIQQ" if wide else "<IIIIIIIIII", data, place + n * size) for n in range(count)]


def _code_symbols(data: bytes, sections: Sequence[tuple[int, ...]], wide: bool) -> Iterator[tuple[int, str]]:
    """Those that label code."""
    yield from ((address, name) for name, kind, address, _ in _defined_symbols(data, sections, wide) if kind in _KINDS)


def _defined_symbols(
    data: bytes, sections: Sequence[tuple[int, ...]], wide: bool
) -> Iterator[tuple[str, int, int, int]]:
    """Defined symbols: (name, kind, address, size). Section 0 is that of undefined ones."""
    for section in sections:
        if section[1] == _SYMTAB:
            names = sections[section[6]]
            strings = data[names[4] : names[4] + names[5]]
            form = "<IBBHQQ" if wide else "<IIIBBH"
            for at in range(section[4], min(section[4] + section[5], len(data)), struct.calcsize(form)):
                found = struct.unpack_from(form, data, at)
                name, kind, owner, address, size = _symbol_fields(found, wide)
                if owner:
                    yield (
                        strings[name : strings.index(b"\0", name)].decode("utf-8", "replace"),
                        kind & 15,
                        address,
                        size,
                    )


def _symbol_fields(found: tuple[int, ...], wide: bool) -> tuple[int, int, int, int, int]:
    """Fields of a symbol: (name, kind, section, address, size), which the two classes of files order differently."""
    if wide:
        return found[0], found[1], found[3], found[4], found[5]
    return found[0], found[3], found[5], found[1], found[2]
