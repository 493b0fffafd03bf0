# SPDX-License-Identifier: Apache-2.0
"""Pseudo-instructions: statements that stand for others (pseudo.txt; RISC-V unprivileged manual, "RISC-V Assembly
Programmer's Handbook"), and `li`, a chain for a constant.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import Final

from polyloom.riscv.assembly.expressions import legal_value
from polyloom.riscv.assembly.text import Text, split_operands
from polyloom.riscv.isa import OPERAND, X_NAMES, data_lines, register_number
from polyloom.riscv.names import Isa
from polyloom.twos_complement import sign_extend

# Instructions that also have another form of operands, which their own rows do not: symbols as addresses, and jumps to
# registers. The table of pseudo-instructions has none of them, since it is looked up by name and number.
_LOADS: Final = ("lb", "lbu", "lh", "lhu", "lw", "lwu", "ld")
_BY_REGISTER: Final = ("sb", "sh", "sw", "sd", "flw", "fld", "fsw", "fsd")
_SYMBOL: Final = re.compile(r"[A-Za-z_.$][\w.$]*(?:\s*[-+][^()]*)?")
"""What stands for an address instead of `offset(register)`."""
_WITH_IMMEDIATE: Final = {
    **{name: f"{name}i" for name in ("add", "and", "or", "xor", "sll", "srl", "sra", "slt")},
    "sltu": "sltiu",
    "addw": "addiw",
    "sllw": "slliw",
    "srlw": "srliw",
    "sraw": "sraiw",
}
"""Instructions of registers, written with a number for the last one: those of immediates."""
_NUMBER: Final = re.compile(r"[-~(\d']")


def expand_statement(mnemonic: Text, operands: Text, isa: Isa) -> Sequence[tuple[Text, Text]]:
    """Expansion of a pseudo-instruction; any other statement itself."""
    parts = split_operands(operands)
    given = [part.text for part in parts]
    if mnemonic.text == "li" and len(given) == 2:
        # Signed and unsigned spellings of a register's bits are both common.
        value = legal_value(parts[1], range(-(1 << isa.xlen - 1), 1 << isa.xlen))
        lines = [
            f"{each} {given[0]},{rest}" if each == "lui" else f"{each} {given[0]},{given[0] if n else 'zero'},{rest}"
            for n, (each, rest) in enumerate(constant_chain(value, isa.xlen))
        ]
    elif mnemonic.text in _WITH_IMMEDIATE and len(given) == 3 and _NUMBER.match(given[2]):
        return ((Text(_WITH_IMMEDIATE[mnemonic.text], mnemonic.span), operands),)
    elif (other := _other_form(mnemonic.text, given)) is not None:
        lines = other
    else:
        pseudo = pseudo_table().get((mnemonic.text, len(given)))
        if pseudo is None:
            return ((mnemonic, operands),)
        values = dict(zip(pseudo[0], given, strict=True))
        lines = [OPERAND.sub(lambda m: values.get(m[0], m[0]), line) for line in pseudo[1]]
    halves = [line.partition(" ") for line in lines]
    return tuple((Text(first, mnemonic.span), Text(rest, operands.span)) for first, _, rest in halves)


def _other_form(name: str, given: Sequence[str]) -> list[str] | None:
    """Lines of `lw rd, symbol`, `sw rs, symbol, rt`, `jalr rd, rs` and their like; None for other operands."""
    if name == "jalr" and len(given) in (2, 3) and register_number(given[1], X_NAMES) is not None:
        return [f"jalr {given[0]},{given[2] if len(given) == 3 else 0}({given[1]})"]
    if name in _LOADS and len(given) == 2 and _SYMBOL.fullmatch(given[1]):
        return [f"auipc {given[0]},{given[1]}@hi", f"{name} {given[0]},{given[1]}@lo({given[0]})"]
    if name in _BY_REGISTER and len(given) == 3:
        return [f"auipc {given[2]},{given[1]}@hi", f"{name} {given[0]},{given[1]}@lo({given[2]})"]
    return None


@cache
def pseudo_table() -> dict[tuple[str, int], tuple[tuple[str, ...], tuple[str, ...]]]:
    """Table of pseudo-instructions, by mnemonic and number of operands: the operands' names and the lines."""
    made: dict[tuple[str, int], tuple[tuple[str, ...], tuple[str, ...]]] = {}
    for mnemonic, operands, *rest in data_lines("pseudo.txt"):
        names = () if operands == "-" else tuple(operands.split(","))
        made[mnemonic, len(names)] = (names, tuple(line.strip() for line in " ".join(rest).split(";")))
    return made


def constant_chain(value: int, xlen: int) -> list[tuple[str, str]]:
    """Materialization of a constant modulo 2**xlen by lui, addi, addiw and slli, at most eight: (mnemonic, operand) of
    each. The first reads zero, every other one the result before it.
    """
    value = sign_extend(value, xlen)
    low = sign_extend(value, 12)
    if value == low:
        return [("addi", str(value))]
    if value == sign_extend(value, 32):
        # The low part is signed: the upper part is what is left after subtracting it, so that addi may go below.
        upper = ("lui", str(value - low >> 12 & 0xFFFFF))
        return [upper] if low == 0 else [upper, ("addi" if xlen == 32 else "addiw", str(low))]
    high = value - low >> 12
    # Trailing zeros are made by the shift: they need no instruction of their own.
    shift = (high & -high).bit_length() - 1
    made = [*constant_chain(high >> shift, xlen), ("slli", str(shift + 12))]
    return made if low == 0 else [*made, ("addi", str(low))]
