# SPDX-License-Identifier: Apache-2.0
"""Static linking: an ELF executable of a function, those that it calls, and their data, whose entry is the function.
What runs is this file, read back.

A symbol for each function follows what is loaded.

Sources: the Tool Interface Standard's ELF specification, version 1.2 (1995), and the RISC-V ELF psABI specification,
chapter "ELF Object Files".
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Final

from polyloom.diagnostics import input_error
from polyloom.riscv import symbols
from polyloom.riscv.assemble import Assembled
from polyloom.riscv.backend.code import Block, Code, Op, branch_targets
from polyloom.riscv.backend.data import BASE
from polyloom.riscv.backend.words import FUNCTION, Marked, encode_function
from polyloom.riscv.image import Segment
from polyloom.riscv.names import Isa

# p_align of a loaded segment; Linux maps RISC-V in pages of 4 KiB (RISC-V privileged manual, Sv39).
_PAGE: Final = 4096
_READ, _WRITE, _EXECUTE = 4, 2, 1
_RISCV, _EXECUTABLE, _LOAD = 243, 2, 1


def link_functions(codes: Sequence[Code]) -> tuple[Marked, dict[str, int]]:
    """Functions laid out one after the other: their words, wherever they stand, and where each begins. Errors: PL0932
    for a call that does not reach.
    """
    blocks = tuple(_qualify_labels(code, k, block) for code in codes for k, block in enumerate(code.blocks))
    made = encode_function(replace(codes[0], blocks=blocks))
    return made, {code.name: made.labels[_entry_label(code.name)] for code in codes}


def _entry_label(name: str) -> str:
    return f"{FUNCTION}{name}"


def _qualify_labels(code: Code, number: int, block: Block) -> Block:
    """Block with labels that no other function has; a function's first block is where calls go."""

    def qualify(op: Op) -> Op:
        names = {target: f"{code.name}:{target}" for target in branch_targets(op)}
        operands = tuple((names.get(o) or _entry_label(o)) if isinstance(o, str) else o for o in op.operands)
        return Op(op.mnemonic, operands, op.place)

    return Block(f"{code.name}:{block.name}" if number else _entry_label(code.name), tuple(map(qualify, block.ops)))


def executable(
    data: bytes,
    place: int,
    words: bytes,
    isa: Isa,
    starts: Mapping[str, int],
    note: bytes = b"",
    entry: int | None = None,
    base: int = BASE,
) -> bytes:
    """ELF file of `data` from `base` on, and `words` at `place`, where the program starts unless `entry` is elsewhere.

    `starts` says by function where it begins in the words; `note` is the ELF note, which tells what the function takes.
    """
    segments = [(_READ | _EXECUTE, place, words, len(words))]
    if data:
        segments.insert(0, (_READ | _WRITE, base, data, len(data)))
    # Symbols in the order of addresses: the size of a function is the distance to the next one.
    ordered = tuple(sorted(starts.items(), key=lambda pair: pair[1]))
    return _elf_file(
        segments, place if entry is None else entry, isa, symbols.Code(place, 0, len(words), ordered), note
    )


def assembly_executable(made: Assembled, isa: Isa, note: bytes = b"") -> bytes:
    """ELF file of assembled text, which starts at the label `_start`, or at the first instruction; data may be written,
    code may not.
    """
    whole = made.base + len(made.data)
    words, data = made.data[: made.code_end - made.base], made.data[made.data_at - made.base :]
    segments = [(_READ | _EXECUTE, made.base, words, len(words))]
    if data:
        segments.insert(0, (_READ | _WRITE, made.data_at, data, len(data)))
    # `.L` begins local labels, which get no symbol (the GNU assembler's convention).
    named = sorted(((a, n) for n, a in made.labels.items() if not n.startswith(".L")))
    starts = tuple((name, address - made.base) for address, name in named if address < made.data_at or not data)
    places = [(address, name) for address, name in named[len(starts) :]]
    ends = [*(address for address, _ in places), whole][1:]
    objects = tuple((name, address, end - address) for (address, name), end in zip(places, ends, strict=False))
    code = symbols.Code(made.base, 0, len(words), starts, objects)
    return _elf_file(segments, made.labels.get("_start", made.base), isa, code, note)


def segments_executable(segments: Sequence[Segment], entry: int, isa: Isa) -> bytes:
    """ELF file of segments, wherever they come from. Errors: PL0910 where two of them overlap."""
    placed = sorted(segments, key=lambda s: s.address)
    for below, above in pairwise(placed):
        if below.address + below.size > above.address:
            message = f"two images overlap at {above.address:#x}"
            raise input_error("PL0910", message, help="place them further apart")
    parts = [(_READ | _WRITE | (_EXECUTE if s.is_code else 0), s.address, s.data, s.size) for s in placed]
    return _elf_file(parts, entry, isa, None, b"")


def _elf_file(
    segments: Sequence[tuple[int, int, bytes, int]], entry: int, isa: Isa, code: symbols.Code | None, note: bytes
) -> bytes:
    """ELF file of segments: header, program headers, contents, then symbols and sections.

    A segment is flags, address, bytes, and its size in memory; `code` describes the last one for the symbols.
    """
    wide = isa.xlen == 64
    # sizeof(Elf64_Ehdr), sizeof(Elf64_Phdr); Elf32 ones else.
    header, size = (64, 56) if wide else (52, 32)
    offset = header + size * len(segments)
    start = 0
    table, contents = bytearray(), bytearray()
    for flags, address, content, whole in segments:
        # ELF, "Program loading": a segment is mapped by pages, so that p_offset and p_vaddr are congruent modulo the
        # page.
        contents += bytes((address - offset - len(contents)) % _PAGE)  # offsets and addresses agree within a page
        start = offset + len(contents)
        fields = (address, address, len(content), whole)
        # Elf64_Phdr has p_flags second, Elf32_Phdr second to last.
        row = (_LOAD, flags, start, *fields, _PAGE) if wide else (_LOAD, start, *fields, flags, _PAGE)
        table += struct.pack("<IIQQQQQQ" if wide else "<IIIIIIII", *row)
        contents += content
    if code is None:
        return _elf_header(entry, header, size, len(segments), 0, isa) + bytes(table) + bytes(contents)
    behind, sections = symbols.section_tables(replace(code, offset=start), offset + len(contents), wide, note)
    return _elf_header(entry, header, size, len(segments), sections, isa) + bytes(table) + bytes(contents) + behind


def _elf_header(entry: int, header: int, size: int, count: int, sections: int, isa: Isa) -> bytes:
    """ELF header (ELF specification, figure 1-3). e_flags: EF_RISCV_RVC is bit 0, EF_RISCV_FLOAT_ABI bits 1 and 2
    (psABI, "File Header").
    """
    wide = isa.xlen == 64
    # EF_RISCV_RVC; EF_RISCV_FLOAT_ABI_SINGLE is 2, EF_RISCV_FLOAT_ABI_DOUBLE 4 (psABI, "File Header").
    flags = ("c" in isa.extensions) | (4 if "d" in isa.extensions else 2 if "f" in isa.extensions else 0)
    # EI_CLASS 1 or 2, EI_DATA 1 (little-endian), EI_VERSION 1.
    ident = bytes([0x7F, *b"ELF", 2 if wide else 1, 1, 1]).ljust(16, b"\0")
    own = (64 if wide else 40, symbols.COUNT, symbols.COUNT - 1) if sections else (0, 0, 0)
    return ident + struct.pack(
        "<HHIQQQIHHHHHH" if wide else "<HHIIIIIHHHHHH",
        _EXECUTABLE,
        _RISCV,
        1,
        entry,
        header,
        sections,
        flags,
        header,
        size,
        count,
        *own,
    )
