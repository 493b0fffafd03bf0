# SPDX-License-Identifier: Apache-2.0
"""Executables of the tests: assembled text, and ELF files with every part chosen."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from polyloom.ir.ssa import Place
from polyloom.riscv import note as notes
from polyloom.riscv.assemble import assemble
from polyloom.riscv.backend.link import executable
from polyloom.riscv.names import parse_isa
from polyloom.riscv.source_lines import encode_lines
from polyloom.targets.minion.words.assemble import TARGET

ISA = parse_isa("rv64imfc")
CODE = 0x80_0000_1000
PASS, FAIL = 0x1FEED000, 0x50BAD000
END = f"li t0, {PASS:#x}\ncsrrw x0, 0x8d0, t0\n.word 0x10500073\n"
"""A hart ends, and says that it passed; then `wfi`."""


def made(
    text: str, lines: Mapping[int, tuple[str, int]] | None = None, symbols: Mapping[str, int] | None = None
) -> bytes:
    """An executable of assembly text at `CODE`; `lines` are (file, line) by offset."""
    found = assemble(text, ISA, CODE, "k.s")
    starts = {name: address - CODE for name, address in found.labels.items()}
    written = {CODE + offset: Place(*place) for offset, place in (lines or {}).items()}
    note = notes.note_text({"version": 1, "target": TARGET, "kind": "assembly", "lines": encode_lines(written)})
    return executable(b"", CODE, found.data, ISA, {**starts, **(symbols or {})}, note=note)


@dataclass(frozen=True, slots=True)
class Load:
    """A program header of type LOAD; `flags` are 4 read, 2 write, 1 execute."""

    address: int
    data: bytes = b"\x73\x00\x10\x00" * 4
    flags: int = 5
    size: int | None = None


@dataclass(frozen=True, slots=True)
class Elf:
    """An ELF file whose fields can be wrong."""

    loads: Sequence[Load] = field(default_factory=lambda: [Load(CODE)])
    entry: int = CODE
    machine: int = 243
    width: int = 2
    order: int = 1
    kind: int = 2
    flags: int = 3

    @property
    def data(self) -> bytes:
        """The bytes."""
        ident = b"\x7fELF" + bytes([self.width, self.order, 1]) + bytes(9)
        header = struct.pack(
            "<HHIQQQIHHHHHH",
            self.kind,
            self.machine,
            1,
            self.entry,
            64,
            0,
            self.flags,
            64,
            56,
            len(self.loads),
            0,
            0,
            0,
        )
        offset, table, contents = 64 + 56 * len(self.loads), b"", b""
        for load in self.loads:
            size = len(load.data) if load.size is None else load.size
            place = (offset + len(contents), load.address, load.address, len(load.data), size, 1)
            table += struct.pack("<IIQQQQQQ", 1, load.flags, *place)
            contents += load.data
        return ident + header + table + contents
