# SPDX-License-Identifier: Apache-2.0
"""`.insn`: instructions by their formats and fields, for those without a mnemonic (GNU as manual, "RISC-V Instruction
Formats").
"""

from __future__ import annotations

import re
from typing import Final

from polyloom.diagnostics import PolyloomError, input_error
from polyloom.riscv.assembly.expressions import Lookup, evaluate, legal_value, refuse_symbol
from polyloom.riscv.assembly.text import Text, piece, split_operands
from polyloom.riscv.isa import F_NAMES, X_NAMES, register_number

DIRECTIVE: Final = ".insn"
_FORMATS: Final = {
    "r": "opcode, funct3, funct7, rd, rs1, rs2",
    "r4": "opcode, funct3, funct2, rd, rs1, rs2, rs3",
    "i": "opcode, funct3, rd, rs1, simm12",
    "s": "opcode, funct3, rs2, simm12(rs1)",
    "b": "opcode, funct3, rs1, rs2, target",
    "u": "opcode, rd, uimm20",
    "j": "opcode, rd, target",
}
_ALIASES: Final = {"sb": "b", "uj": "j"}
_OPCODES: Final = {
    "LOAD": 0x03,
    "LOAD_FP": 0x07,
    "CUSTOM_0": 0x0B,
    "MISC_MEM": 0x0F,
    "OP_IMM": 0x13,
    "AUIPC": 0x17,
    "OP_IMM_32": 0x1B,
    "STORE": 0x23,
    "STORE_FP": 0x27,
    "CUSTOM_1": 0x2B,
    "AMO": 0x2F,
    "OP": 0x33,
    "LUI": 0x37,
    "OP_32": 0x3B,
    "MADD": 0x43,
    "MSUB": 0x47,
    "NMSUB": 0x4B,
    "NMADD": 0x4F,
    "OP_FP": 0x53,
    "CUSTOM_2": 0x5B,
    "BRANCH": 0x63,
    "JALR": 0x67,
    "JAL": 0x6F,
    "SYSTEM": 0x73,
    "CUSTOM_3": 0x7B,
}
_MEMORY: Final = re.compile(r"(.*)\(\s*([\w.]+)\s*\)", re.DOTALL)
_HEAD: Final = re.compile(r"([A-Za-z]\w*)\s+(.*)", re.DOTALL)


def size(operands: Text) -> int:
    """Bytes of the instruction: 4, or 2 for a word whose low bits say so (RISC-V unprivileged manual, "Base
    Instruction-Length Encoding"). Errors: PL0903.
    """
    if _HEAD.fullmatch(operands.text) is not None:
        return 4
    given = split_operands(operands)
    if len(given) == 2:
        return legal_value(given[0], range(2, 5, 2))
    # The low two bits are 3 in words of four bytes alone.
    return 4 if legal_value(operands, range(1 << 32)) & 3 == 3 else 2


def encode_fields(operands: Text, address: int, lookup: Lookup) -> int:
    """Word of an instruction at an address. Errors: PL0903, PL0904."""
    found = _HEAD.fullmatch(operands.text)
    if found is None:
        return legal_value(split_operands(operands)[-1], range(1 << 8 * size(operands)))
    name = _ALIASES.get(found[1].lower(), found[1].lower())
    given = split_operands(piece(operands, found.start(2), found.end(2)))
    if name not in _FORMATS:
        help = f"formats are {', '.join(_FORMATS)}"
        raise input_error("PL0903", f"there is no instruction format '{found[1]}'", span=operands.span, help=help)
    if name == "s" and len(given) == 4 and (memory := _MEMORY.fullmatch(given[3].text)) is not None:
        given[3:] = [piece(given[3], *memory.span(1)), piece(given[3], *memory.span(2))]
    if name == "i" and len(given) == 4 and (memory := _MEMORY.fullmatch(given[3].text)) is not None:
        given[3:] = [piece(given[3], *memory.span(2)), piece(given[3], *memory.span(1))]
    # GNU as takes `r` with a third source for the format r4.
    if len(given) == len(_FORMATS["r"].split(",")) + 1 and name == "r":
        name = "r4"
    if len(given) != len(_FORMATS[name].replace("(", ",").split(",")):
        raise _error(operands, name)
    opcode = _opcode(given[0])
    if name in ("u", "j"):
        rd = _register(given[1])
        if name == "u":
            return opcode | rd << 7 | legal_value(given[2], range(-(1 << 19), 1 << 20), lookup) % (1 << 20) << 12
        distance = _distance(given[2], address, lookup, 20)
        return opcode | rd << 7 | _jump_bits(distance)
    word = opcode | legal_value(given[1], range(8), lookup) << 12
    match name:
        case "r":
            rd, first, second = map(_register, given[3:])
            return word | rd << 7 | first << 15 | second << 20 | legal_value(given[2], range(128), lookup) << 25
        case "r4":
            rd, first, second, third = map(_register, given[3:])
            high = third << 27 | legal_value(given[2], range(4), lookup) << 25
            return word | rd << 7 | first << 15 | second << 20 | high
        case "i":
            value = legal_value(given[4], range(-2048, 2048), lookup) % 4096
            return word | _register(given[2]) << 7 | _register(given[3]) << 15 | value << 20
        case "s":
            value = legal_value(given[3], range(-2048, 2048), lookup) % 4096
            registers = _register(given[4]) << 15 | _register(given[2]) << 20
            return word | registers | (value & 31) << 7 | value >> 5 << 25
        case _:
            distance = _distance(given[4], address, lookup, 12)
            registers = _register(given[2]) << 15 | _register(given[3]) << 20
            return word | registers | _branch_bits(distance)


def _opcode(text: Text) -> int:
    return _OPCODES[text.text] if text.text in _OPCODES else legal_value(text, range(128), refuse_symbol)


def _register(text: Text) -> int:
    found = register_number(text.text, X_NAMES)
    found = register_number(text.text, F_NAMES) if found is None else found
    if found is None:
        raise input_error(
            "PL0903", f"'{text.text}' is no register", span=text.span, help="write for instance a0 or fa0"
        )
    return found


def _distance(text: Text, address: int, lookup: Lookup, bits: int) -> int:
    """Distance in bytes to a target, of a number of bits and a sign. Errors: PL0903."""
    found = evaluate(text, lookup)
    value = found.number - (address if found.section is not None else 0)
    if value % 2 or not -(1 << bits) <= value < 1 << bits:
        help = f"it takes even distances of {-(1 << bits)} to {(1 << bits) - 2}"
        raise input_error("PL0903", f"{value} is outside the range of the operand", span=text.span, help=help)
    return value


def _jump_bits(value: int) -> int:
    """Immediate of format J (RISC-V unprivileged manual, "Immediate Encoding Variants")."""
    return (value >> 20 & 1) << 31 | (value >> 1 & 0x3FF) << 21 | (value >> 11 & 1) << 20 | (value >> 12 & 0xFF) << 12


def _branch_bits(value: int) -> int:
    """Immediate of format B (RISC-V unprivileged manual, "Immediate Encoding Variants")."""
    return (value >> 12 & 1) << 31 | (value >> 5 & 0x3F) << 25 | (value >> 1 & 0xF) << 8 | (value >> 11 & 1) << 7


def _error(operands: Text, name: str) -> PolyloomError:
    message = f"'.insn {name}' does not take these operands"
    return input_error("PL0903", message, span=operands.span, help=f"write .insn {name} {_FORMATS[name]}")
