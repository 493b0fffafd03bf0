# SPDX-License-Identifier: Apache-2.0
"""Symbolization of addresses: the symbol before an address, and the source line where the file has one. Reports of
traps, hazards and deadlocks name every instruction so.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field

from polyloom.diagnostics import PolyloomError
from polyloom.ir.ssa import NOWHERE
from polyloom.riscv import symbols
from polyloom.riscv.image import MAGIC
from polyloom.riscv.source_lines import Lines, decode_lines


@dataclass(frozen=True, slots=True)
class Where:
    """Located address. `symbol` is empty and `file` None where nothing is known; `line` counts from 1. `reason` says
    why code that the user did not write is there.
    """

    pc: int
    symbol: str = ""
    offset: int = 0
    file: str | None = None
    line: int = 0
    reason: str = ""

    def __str__(self) -> str:
        """`0x8000001020 (start+0x20, k.s:12)`."""
        symbol = f"{self.symbol}+{self.offset:#x}" if self.offset else self.symbol
        known = [part for part in (symbol, self.source) if part]
        return f"{self.pc:#x} ({', '.join(known)})" if known else f"{self.pc:#x}"

    @property
    def source(self) -> str:
        """`k.s:12`, or nothing."""
        return "" if self.file is None else f"{self.file}:{self.line}"


@dataclass(frozen=True, slots=True)
class Locator:
    """Symbol and line tables of a program: symbols that label code, by rising address; `end` is behind the last byte of
    code.
    """

    addresses: tuple[int, ...] = ()
    names: tuple[str, ...] = ()
    lines: Lines = field(default_factory=Lines)
    end: int = 1 << 64

    @staticmethod
    def of(data: bytes) -> Locator:
        """Tables of a file; empty where it is no ELF file, or one with broken tables."""
        if not data.startswith(MAGIC):
            return Locator()
        try:
            tables = symbols.read_tables(data)
        # A report must come out whatever the file is: without symbols, the note's lines still say where an address is.
        except PolyloomError:
            return Locator(lines=decode_lines(data))
        ordered = sorted(tables.names.items())
        end = max((at + len(code) for at, code in tables.code), default=1 << 64)
        return Locator(tuple(at for at, _ in ordered), tuple(name for _, name in ordered), decode_lines(data), end)

    def at(self, pc: int) -> Where:
        """Symbol and line of an address, by binary search."""
        if pc >= self.end:
            return Where(pc)
        number = bisect_right(self.addresses, pc) - 1
        symbol, offset = (self.names[number], pc - self.addresses[number]) if number >= 0 else ("", 0)
        place = self.lines.at(pc) or NOWHERE
        return Where(pc, symbol, offset, place.file if place.line else None, place.line, place.reason)
