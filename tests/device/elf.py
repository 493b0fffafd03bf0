# SPDX-License-Identifier: Apache-2.0
"""Sizes out of an ELF file of either class and byte order (Tool Interface Standard, version 1.2): sections,
functions."""

from __future__ import annotations

import struct
from dataclasses import dataclass

_SYMBOLS, _FUNCTION = 2, 2


@dataclass(frozen=True, slots=True)
class Section:
    kind: int
    offset: int
    size: int
    link: int


@dataclass(frozen=True, slots=True)
class Elf:
    data: bytes

    def unpack(self, narrow: str, wide: str, at: int) -> tuple[int, ...]:
        order = "<" if self.data[5] == 1 else ">"
        return struct.unpack_from(order + (wide if self.data[4] == 2 else narrow), self.data, at)

    @property
    def sections(self) -> dict[str, Section]:
        """By name."""
        *_, table, _, _, _, _, size, count, names = self.unpack("HHIIIIIHHHHHH", "HHIQQQIHHHHHH", 16)
        headers = [self.unpack("10I", "IIQQQQIIQQ", table + n * size) for n in range(count)]
        labels = headers[names][4]
        return {self._text(labels + h[0]): Section(h[1], h[4], h[5], h[6]) for h in headers}

    def functions(self) -> dict[str, tuple[int, int]]:
        """(address, bytes) by name; several names of one address remain."""
        sections = self.sections
        table = next(s for s in sections.values() if s.kind == _SYMBOLS)
        labels = list(sections.values())[table.link].offset
        wide = self.data[4] == 2
        found: dict[str, tuple[int, int]] = {}
        for at in range(table.offset, table.offset + table.size, 24 if wide else 16):
            name, *fields = self.unpack("IIIBBH", "IBBHQQ", at)
            info, address, size = (fields[0], fields[3], fields[4]) if wide else (fields[2], fields[0], fields[1])
            if info & 15 == _FUNCTION:
                found[self._text(labels + name)] = address, size
        return found

    def text(self) -> int:
        """Bytes of code and constants."""
        return sum(s.size for name, s in self.sections.items() if name in (".text", ".rodata"))

    def _text(self, at: int) -> str:
        return self.data[at : self.data.index(b"\0", at)].decode()
