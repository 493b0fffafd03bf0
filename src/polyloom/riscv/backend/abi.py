# SPDX-License-Identifier: Apache-2.0
"""The calling convention: where arguments and results are (RISC-V ELF psABI specification, chapter "Procedure Calling
Convention").

Which of ilp32, ilp32f, ilp32d, lp64, lp64f and lp64d holds follows from the instruction set. Integers come in a0 to a7,
then on the stack; what is twice as wide as a register takes two, of which the second may be the first word on the
stack. Floats that fit come in fa0 to fa7, then as integers do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from polyloom.ir.ssa_types import F32, F64, FLOATS, PTR, SIZE, Type
from polyloom.riscv.backend.code import Reg
from polyloom.riscv.names import Isa

ARGUMENTS: Final = range(10, 18)
"""The numbers of a0 to a7 and of fa0 to fa7."""
SAVED: Final = (8, 9, *range(18, 28))
"""s0 to s11 and fs0 to fs11, which a function preserves; of the f ones only as many bits as the convention has."""
TEMPORARY_X: Final = (*ARGUMENTS, 5, 6, 7, *range(28, 32))
TEMPORARY_F: Final = (*ARGUMENTS, *range(8), *range(28, 32))


@dataclass(frozen=True, slots=True)
class Stack:
    """Stack location: bytes from where sp points to at the call."""

    offset: int


Place = Reg | Stack


def abi_name(isa: Isa) -> str:
    """Name of the calling convention, such as lp64d: integer widths, then the widest float passed in f registers
    (psABI, "Named ABIs").
    """
    # psABI, "Named ABIs": the widest float that f registers hold names the convention.
    floats = "d" if "d" in isa.extensions else "f" if "f" in isa.extensions else ""
    return ("lp64" if isa.xlen == 64 else "ilp32") + floats


def value_bytes(type: Type, isa: Isa) -> int:
    """Bytes of a value, a pointer being as wide as a register."""
    return isa.xlen // 8 if type == PTR else SIZE[type]


def argument_places(types: Sequence[Type], isa: Isa) -> tuple[tuple[Place, ...], ...]:
    """Argument locations: for each argument the registers or the words on the stack that hold it, low half first."""
    counter = _Counter(isa)
    return tuple(counter.place(type) for type in types)


def result_places(type: Type, isa: Isa) -> tuple[Reg, ...]:
    """Result locations: a0 and a1, or fa0, as for a first argument (psABI, "Integer Calling Convention": values are
    returned as a first argument is passed).
    """
    found = argument_places((type,), isa)[0]
    return tuple(place for place in found if isinstance(place, Reg))


class _Counter:
    """Argument registers that are still free, and the bytes of the stack that are taken."""

    def __init__(self, isa: Isa) -> None:
        self.isa, self.x, self.f, self.stack = isa, list(ARGUMENTS), list(ARGUMENTS), 0

    def place(self, type: Type) -> tuple[Place, ...]:
        hard: dict[Type, Literal["f", "d"]] = {F32: "f", F64: "d"}
        # psABI, "Hardware Floating-point Calling Convention": a float no wider than FLEN takes an f register while one
        # is free; further ones go as integers do.
        if type in FLOATS and hard[type] in self.isa.extensions and self.f:
            return (Reg("f", self.f.pop(0)),)
        word = self.isa.xlen // 8
        # psABI, "Integer Calling Convention": a scalar of at most XLEN bits takes one register, or one word of the
        # stack.
        if value_bytes(type, self.isa) <= word:
            return (self._word(),)
        if not self.x:  # what is wholly on the stack is aligned
            self.stack = -(-self.stack // (2 * word)) * 2 * word
        # 2 XLEN bits: a pair that need not be aligned in registers, and may be split between the last register and the
        # stack.
        return self._word(), self._word()

    def _word(self) -> Place:
        if self.x:
            return Reg("x", self.x.pop(0))
        self.stack += self.isa.xlen // 8
        return Stack(self.stack - self.isa.xlen // 8)
