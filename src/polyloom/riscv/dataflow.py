# SPDX-License-Identifier: Apache-2.0
"""Data flow of single instructions: which registers each reads and writes, and which bytes of memory it accesses, from
the instruction table alone (RISC-V unprivileged manual, "RV32/64G Instruction Set Listings").
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final, Literal

from polyloom.riscv.encode import decode, expand_compressed
from polyloom.riscv.isa import F_NAMES, M_NAMES, X_NAMES, Instruction
from polyloom.riscv.names import Isa

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
