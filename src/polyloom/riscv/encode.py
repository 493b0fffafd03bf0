# SPDX-License-Identifier: Apache-2.0
"""Encoder and decoder: instructions to words and back, from the table alone; and the data flow of an instruction, which
registers it reads and writes and which bytes of memory it accesses.

A word is the first row that matches it, those with the most fixed bits first: `c.ebreak` before `c.jalr` before `c.add`
(RISC-V unprivileged manual, "RVC Instruction Set Listings").
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final, Literal

from polyloom.riscv.isa import (
    F_NAMES,
    M_NAMES,
    X_NAMES,
    Instruction,
    Role,
    Row,
    find_row,
    instruction_table,
)
from polyloom.riscv.names import VENDORS, Isa

Bank = Literal["x", "f", "m"]
Register = tuple[Bank, int]
Direction = Literal["load", "store", "atomic"]
_NAMES: Final = {"x": X_NAMES, "f": F_NAMES, "m": M_NAMES}
# Sizes follow from the letter at the end of a mnemonic: b, h, w, d.
_LOAD: Final = re.compile(r"f?l([bhwdq])u?2?(\.ps)?")
_STORE: Final = re.compile(r"f?s([bhwdq])2?(\.ps)?")
_ATOMIC: Final = re.compile(r"(?:lr|sc|amo\w+)\.([wd])(?:\..*)?")
_SIZES: Final = {"b": 1, "h": 2, "w": 4, "d": 8}
_VECTOR: Final = 32
"""Bytes of a packed register of xaifet."""


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


@dataclass(frozen=True, slots=True)
class Flow:
    """Data flow of an instruction: registers, and where it accesses memory the direction and the number of bytes; the
    address is `x[base] + offset`.
    """

    reads: tuple[Register, ...]
    writes: tuple[Register, ...]
    direction: Direction | None = None
    size: int = 0
    base: int = 0
    offset: int = 0

    def address(self, x: Sequence[int], xlen: int) -> int:
        """Address of the access, with the integer registers as they are before it."""
        return (x[self.base] + self.offset) % (1 << xlen)


def register_name(register: Register) -> str:
    """ABI name of a register."""
    return _NAMES[register[0]][register[1]]


@cache
def flow_of_word(word: int, isa: Isa) -> Flow | None:
    """Data flow of the instruction in the low bits of `word`; None where it is illegal."""
    found = decode(word, isa)
    return None if found is None else register_flow(expand_compressed(found, isa))


def register_flow(instruction: Instruction) -> Flow:
    """Data flow of an instruction that is not compressed."""
    reads, writes = list[Register](), list[Register]()
    for field, value in zip(instruction.row.fields, instruction.values, strict=True):
        # x0 carries no value.
        if field.kind not in ("x", "f", "m") or (field.kind == "x" and value == 0):
            continue
        (writes if field.role == "rd" else reads).append((field.kind, value))
    direction, size = _access(instruction.row.mnemonic)
    roles = instruction.roles
    return Flow(tuple(reads), tuple(writes), direction, size, roles.get("rs1", 0), roles.get("imm", 0))


def _access(mnemonic: str) -> tuple[Direction | None, int]:
    if (found := _ATOMIC.fullmatch(mnemonic)) is not None:
        return "atomic", _SIZES[found[1]]
    patterns: tuple[tuple[Direction, re.Pattern[str]], ...] = (("load", _LOAD), ("store", _STORE))
    for direction, pattern in patterns:
        if (found := pattern.fullmatch(mnemonic)) is not None:
            packed = found[2] is not None or found[1] == "q"
            return direction, _VECTOR if packed else _SIZES[found[1]]
    return None, 0
