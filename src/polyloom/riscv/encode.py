# SPDX-License-Identifier: Apache-2.0
"""Encoder and decoder: instructions to words and back, from the table alone.

A word is the first row that matches it, those with the most fixed bits first: `c.ebreak` before `c.jalr` before `c.add`
(RISC-V unprivileged manual, "RVC Instruction Set Listings").
"""

from __future__ import annotations

from functools import cache

from polyloom.riscv.isa import Instruction, Role, Row, find_row, instruction_table
from polyloom.riscv.names import VENDORS, Isa


def encode(instruction: Instruction) -> int:
    """Encoding of an instruction: the word of 16 or 32 bits. The values must be in the ranges of their fields."""
    fields = zip(instruction.row.fields, instruction.values, strict=True)
    return instruction.row.match | sum(field.insert(value) for field, value in fields)


def decode(word: int, isa: Isa) -> Instruction | None:
    """Decoding of the low bits of `word`; None where it is illegal in `isa`."""
    for mask, row in _match_order(isa)[word & 3 == 3]:
        if word & mask == row.match:
            values = tuple(field.extract(word) for field in row.fields)
            # Forbidden values are other instructions or reserved: c.lui with rd = x2 is c.addi16sp (RISC-V unprivileged
            # manual, "RVC Instruction Set Listings").
            if all(value not in field.forbidden for field, value in zip(row.fields, values, strict=True)):
                return Instruction(row, values)
    return None


def expand_compressed(instruction: Instruction, isa: Isa) -> Instruction:
    """Expansion of a compressed instruction to the one that it stands for; any other one itself (RISC-V unprivileged
    manual, chapter "C" Extension).
    """
    if instruction.row.expansion is None:
        return instruction
    mnemonic, sources = instruction.row.expansion
    row = find_row(mnemonic, isa)
    assert row is not None, f"{instruction.row.mnemonic} needs {mnemonic}"
    return Instruction(row, tuple(_source_value(source, instruction) for source in sources))


def _source_value(source: Role | int, instruction: Instruction) -> int:
    return source if isinstance(source, int) else instruction.roles[source]


@cache
def _match_order(isa: Isa) -> tuple[tuple[tuple[int, Row], ...], tuple[tuple[int, Row], ...]]:
    """Rows of two and of four bytes behind their masks, the most specific first."""
    known = (row for vendor in ("", *VENDORS) for row in instruction_table(vendor))
    rows = sorted(((r.mask, r) for r in known if r.is_in_isa(isa)), key=lambda masked: -masked[0].bit_count())
    return tuple(m for m in rows if m[1].size == 2), tuple(m for m in rows if m[1].size == 4)
