# SPDX-License-Identifier: Apache-2.0
"""Instruction set of a processing element (the array paper, sections 3.2 and 6.3).

An instruction is a pair (the array paper, section 6.3): a functional instruction, which reads up to three sources and
writes one result to any number of destinations, and a branch instruction, which names the next instruction. Words are
bytes:

    operation   u8   operation number (bits 0-5) | branch kind (bits 6-7)
    type        u8   destinations (bits 0-3) | element type number (bits 4-7)
    per destination and per source   u8   register file (bits 6-7) | index (bits 0-5); a source of file 3 is an
    immediate per immediate          u32  the value's bits, in source order; u64 of f64
    goto      u16  target
    if        u8   number of control signals n, then n signal numbers u8, then 2**n targets u16

An operation has as many sources as its arity, and `OPCODE_NOP` (operation 63, type 0) no operands. A target is an
instruction's index in its unit's program. In `if`, target number `sum(signal[i] << i)` is taken; entries for codes that
cannot occur repeat the entry of the lowest code that can.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from polyloom.ir.operations import ELEMENT_TYPES, NUMBER, OPERATIONS, ElementType

OPCODES = 1024
OPCODE_NOP = 63 << 4


class File(IntEnum):
    """Register files (the array paper, section 3.2). `OD` is written only, `ID` is read only; both share code 2 because
    a field is never both.
    """

    RD = 0
    FD = 1
    IO = 2
    # The fourth code of the two bits that name a file.
    IMMEDIATE = 3


@dataclass(frozen=True, slots=True, order=True)
class Register:
    """`rd3`, `fd0`, or, by position, `id1` (a source) or `od1` (a destination)."""

    file: File
    index: int


@dataclass(frozen=True, slots=True, order=True)
class Immediate:
    """A constant operand: the low 32 bits that a register would hold (integers sign-extended, f32 its IEEE bits); of
    an f64 all 64."""

    bits: int


Source = Register | Immediate

UNUSED = Immediate(1)
"""Every constant of an instruction that writes nothing, whatever its equation's is: no operation faults on it."""


@dataclass(frozen=True, slots=True)
class Next:
    """Go to the following instruction."""


@dataclass(frozen=True, slots=True)
class Halt:
    """Halt (the array paper, Algorithm 4): stops the unit after this instruction."""


@dataclass(frozen=True, slots=True)
class Goto:
    target: int


@dataclass(frozen=True, slots=True)
class If:
    """Conditional branch (the array paper, section 6.3): selects one of `2**len(signals)` targets by the control
    signals of the current iteration.
    """

    signals: tuple[int, ...]
    targets: tuple[int, ...]


Branch = Next | Halt | Goto | If


@dataclass(frozen=True, slots=True)
class Instruction:
    opcode: int = OPCODE_NOP
    destinations: tuple[Register, ...] = ()
    sources: tuple[Source, ...] = ()
    # Orthogonal instruction processing (3.2): each unit has a program of its own, so that every word also says what
    # comes next.
    branch: Branch = Next()


def encode_opcode(operation: str, dtype: ElementType) -> int:
    """Opcode: the number that stands for `operation` on elements of `dtype`."""
    # Positions in the table are numbers in files: rows are only ever appended (ARCHITECTURE, "An operation").
    return NUMBER[operation] << 4 | ELEMENT_TYPES.index(dtype)


def decode_opcode(code: int) -> tuple[str, ElementType]:
    """Operation name and element type of an opcode other than `OPCODE_NOP`."""
    return OPERATIONS[code >> 4].name, ELEMENT_TYPES[code & 15]


def is_operation(code: int) -> bool:
    """Whether `decode_opcode` knows the opcode."""
    return code >> 4 < len(OPERATIONS) and code & 15 < len(ELEMENT_TYPES)


def source_type(code: int, position: int) -> ElementType:
    """The element type that an operation takes as a source."""
    operation, dtype = decode_opcode(code)
    # The first source of a selection is the result of a comparison, which is an i32.
    return "i32" if operation == "select" and position == 0 else dtype
