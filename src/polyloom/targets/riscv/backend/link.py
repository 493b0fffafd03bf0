# SPDX-License-Identifier: Apache-2.0
"""A static ELF executable of a function, those that it calls, and their data, whose entry is the function: what runs is this file, read back.

A symbol for each function follows what is loaded.

Sources: the Tool Interface Standard's ELF specification, version 1.2, and the RISC-V ELF psABI specification.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from polyloom.targets.riscv import symbols
from polyloom.targets.riscv.backend.code import Block, Code, Op, targets
from polyloom.targets.riscv.backend.data import BASE
from polyloom.targets.riscv.backend.words import labelled
from polyloom.targets.riscv.names import Isa

_PAGE: Final = 4096
_READ, _WRITE, _EXECUTE = 4, 2, 1
_RISCV, _EXECUTABLE, _LOAD = 243, 2, 1


def linked(codes: Sequence[Code]) -> tuple[bytes, dict[str, int]]:
    """The words of functions one after the other, wherever they stand, and where each begins. Errors: PL0932 for a call that does not reach."""
    blocks = tuple(_named(code, k, block) for code in codes for k, block in enumerate(code.blocks))
    words, labels = labelled(replace(codes[0], blocks=blocks))
    return words, {code.name: labels[_entry(code.name)] for code in codes}


def _entry(name: str) -> str:
    return f"@{name}"


def _named(code: Code, number: int, block: Block) -> Block:
    """The block with names that no other function has; the first one is where calls go."""

    def named(op: Op) -> Op:
        names = {target: f"{code.name}:{target}" for target in targets(op)}
        return Op(op.mnemonic, tuple((names.get(o) or _entry(o)) if isinstance(o, str) else o for o in op.operands))

    return Block(f"{code.name}:{block.name}" if number else _entry(code.name), tuple(map(named, block.ops)))


def executable(data: bytes, place: int, words: bytes, isa: Isa, starts: Mapping[str, int]) -> bytes:
    """`data` from `BASE` on, and `words` at `place`, where the program starts; `starts` says by function where it begins in the words."""
    wide = isa.xlen == 64
    segments = [(_READ | _EXECUTE, place, words)]
    if data:
        segments.insert(0, (_READ | _WRITE, BASE, data))
    header, size = (64, 56) if wide else (52, 32)
    offset = header + size * len(segments)
    start = 0
    table, contents = bytearray(), bytearray()
    for flags, address, content in segments:
        contents += bytes((address - offset - len(contents)) % _PAGE)  # offsets and addresses agree within a page
        start = offset + len(contents)
        fields = (address, address, len(content), len(content))
        table += struct.pack("<IIQQQQQQ", _LOAD, flags, start, *fields, _PAGE) if wide else struct.pack("<IIIIIIII", _LOAD, start, *fields, flags, _PAGE)
        contents += content
    code = symbols.Code(place, start, len(words), tuple(sorted(starts.items(), key=lambda pair: pair[1])))
    behind, sections = symbols.tables(code, offset + len(contents), wide)
    return _header(place, header, size, len(segments), sections, isa) + bytes(table) + bytes(contents) + behind


def _header(entry: int, header: int, size: int, count: int, sections: int, isa: Isa) -> bytes:
    wide = isa.xlen == 64
    flags = ("c" in isa.extensions) | (4 if "d" in isa.extensions else 2 if "f" in isa.extensions else 0)
    ident = bytes([0x7F, *b"ELF", 2 if wide else 1, 1, 1]).ljust(16, b"\0")
    own = (64 if wide else 40, symbols.COUNT, symbols.COUNT - 1)
    return ident + struct.pack(
        "<HHIQQQIHHHHHH" if wide else "<HHIIIIIHHHHHH", _EXECUTABLE, _RISCV, 1, entry, header, sections, flags, header, size, count, *own
    )
