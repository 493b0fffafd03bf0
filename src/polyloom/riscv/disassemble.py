# SPDX-License-Identifier: Apache-2.0
"""Disassembler: words to text that the assembler reads back, with ABI names, decimal immediates, and offsets relative
to the instruction.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from polyloom.riscv.encode import decode
from polyloom.riscv.isa import F_NAMES, M_NAMES, OPERAND, X_NAMES, Field, Instruction
from polyloom.riscv.names import Isa

ORDERS: Final = ("", ".rl", ".aq", ".aqrl")
ROUNDINGS: Final = ("rne", "rtz", "rdn", "rup", "rmm", "", "", "dyn")
CSRS: Final[Mapping[int, str]] = {1: "fflags", 2: "frm", 3: "fcsr"}
DEFAULT_ROUNDING: Final = {"rm": 7, "rm0": 0}
"""What is not written: dyn, but rne for the conversions that are always exact."""


def instruction_text(instruction: Instruction, csrs: Mapping[int, str] = CSRS) -> str:
    """Text of one instruction, such as `amoadd.w.aq a0, a1, (a2)`, with names for the given control registers."""
    row = instruction.row
    named = {field.name: (field, value) for field, value in zip(row.fields, instruction.values, strict=True)}
    template, _, modifier = row.operands.partition(";")
    operands = OPERAND.sub(lambda m: _operand_text(*named[m[0]], csrs) if m[0] in named else m[0], template).replace(
        ",", ", "
    )
    suffix = ORDERS[named["order"][1]] if modifier == "order" else ""
    if modifier in DEFAULT_ROUNDING and named[modifier][1] != DEFAULT_ROUNDING[modifier]:
        operands += f", {ROUNDINGS[named[modifier][1]]}"
    return f"{row.mnemonic}{suffix} {operands}".rstrip()


def addresses(data: bytes, base: int = 0) -> Iterator[int]:
    """Address of each line of `listing`."""
    place = 0
    while place < len(data):
        yield base + place
        place += 4 if data[place] & 3 == 3 else 2


def listing(data: bytes, isa: Isa, base: int = 0, csrs: Mapping[int, str] = CSRS) -> Iterator[str]:
    """Listing: lines `address: word  text`; what is no instruction is shown as `.half` or `.word`."""
    for address in addresses(data, base):
        place = address - base
        size = min(4 if data[place] & 3 == 3 else 2, len(data) - place)
        word = int.from_bytes(data[place : place + size], "little")
        found = decode(word, isa)
        text = (
            instruction_text(found, csrs)
            if found is not None and found.row.size == size
            else f"{_DATA[size]} {word:#x}"
        )
        yield f"{address:8x}: {word:0{2 * size}x}{'':{8 - 2 * size}}  {text}"


_DATA: Final = {1: ".byte", 2: ".half", 3: ".half", 4: ".word"}


def _operand_text(field: Field, value: int, csrs: Mapping[int, str]) -> str:
    if field.kind == "x":
        return X_NAMES[value]
    if field.kind == "f":
        return F_NAMES[value]
    if field.kind == "m":
        return M_NAMES[value]
    if field.kind == "upper":
        # The assembler's operand of lui and auipc is the upper 20 bits.
        return str(value >> 12 & 0xFFFFF)
    if field.kind == "csr":
        return csrs.get(value, hex(value))
    if field.kind == "fence":
        # Predecessor and successor sets, from device input to memory writes (RISC-V unprivileged manual, "Memory
        # Ordering Instructions").
        return "".join(letter for n, letter in enumerate("iorw") if value >> 3 - n & 1) or "0"
    return str(value)
