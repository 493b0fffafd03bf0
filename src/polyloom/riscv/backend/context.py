# SPDX-License-Identifier: Apache-2.0
"""State of instruction selection for a function: which registers hold a value, and which instructions are folded into
their user.

An integer narrower than a register is held sign-extended, an i1 as 0 or 1, so that comparisons need no care (sign
extension keeps the unsigned order, too); so does the psABI hold words of 32 bits (RISC-V ELF psABI, "Integer Calling
Convention"). A value of which only its own bits are demanded is loose, unless its definition extends it anyway: its
upper bits are anything. On RV32 an i64 is held in two registers, low half first. An instruction with one use, by one
that can take it in, is deferred to it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Final

from polyloom.ir.ssa import Address, Constant, Function, Instruction, Operand, Undef, Value
from polyloom.ir.ssa_types import F32, FLOATS, PTR, WIDTH, Type
from polyloom.ir.ssa_verify import definitions
from polyloom.riscv.backend import folds
from polyloom.riscv.backend.build import Builder
from polyloom.riscv.backend.code import PHYSICAL, ZERO, Reg
from polyloom.riscv.backend.data import Layout
from polyloom.riscv.backend.folds import IMMEDIATE
from polyloom.riscv.names import Isa
from polyloom.riscv.pseudo import constant_chain

LONG: Final = 3
"""As many instructions make a constant that is not loaded."""
FUNCTIONS: Final = {"smin": "min", "smax": "max", "umin": "minu", "umax": "maxu", "abs": "abs", "usub.sat": "satsubu"}
"""Intrinsics that the select table has."""


class Context:
    """Selection state. Mutable: the instructions made so far, the block that the next ones are for, and where values
    are. `emit` selects an instruction.
    """

    def __init__(
        self, function: Function, isa: Isa, layout: Layout, emit: Callable[[Context, Instruction], None]
    ) -> None:
        self.function, self.isa, self.layout, self.emit = function, isa, layout, emit
        self.b: Final = Builder(isa)
        self.values: dict[str, tuple[Reg, ...]] = {}
        self.frame = self.outgoing = 0
        self.scratch: int | None = None
        found = Counter(value.name for block in function.blocks for value in definitions(block))
        # After `destruct` a name may have several definitions: its register is written in place and must not be shared.
        self.variables: Final = frozenset(name for name, number in found.items() if number > 1)
        self.shared: set[Reg] = set()
        # Selection looks at users, not at definitions: an operation may vanish into the one that uses it.
        users = folds.def_use_chains(function)
        self.deferred: Final = dict(folds.deferred_instructions(function, users, self.variables, isa))
        self.near: Final = dict(folds.constant_offsets(function, self.variables))
        self.block = ""
        self.inverses: Final = dict(folds.complements(function, self.variables))
        self.masked: Final = dict(folds.masked_values(function, self.variables))
        self.zero_extended: Final = frozenset(folds.unsigned_loads(function, users))
        self.loose: Final = folds.loose_values(function, users, self.variables, isa)

    def is_wide(self, type: Type) -> bool:
        return folds.is_wide(type, self.isa)

    def has(self, extension: str) -> bool:
        return extension in self.isa.extensions

    def reg(self, operand: Operand) -> Reg:
        """Register of a value that needs one."""
        return self.parts(operand)[0]

    def pair(self, operand: Operand) -> tuple[Reg, Reg]:
        """Low and high register of an i64 on RV32."""
        low, high = self.parts(operand)
        return low, high

    def parts(self, operand: Operand) -> tuple[Reg, ...]:
        """Registers of an operand, low half first. A deferred instruction is selected here, where its user asks for
        it."""
        match operand:
            case Constant(type, value) if type in FLOATS:
                return (self._float(type, value),)
            case Constant(type, value):
                return (
                    (self.b.constant(value), self.b.constant(value >> 32))
                    if self.is_wide(type)
                    else (self._integer(value),)
                )
            case Undef(type):
                # Any value will do for an undefined one; that of the zero register costs nothing.
                return (self._float(type, 0),) if type in FLOATS else (ZERO, ZERO) if self.is_wide(type) else (ZERO,)
            case Address(name, offset):
                return (self.address(name, offset),)
            case Value(name, type):
                # Emitted where its user stands; what no user asks for is never emitted.
                if name in self.deferred and name not in self.values:
                    self.emit(self, self.deferred[name])
                return self.values[name] if name in self.values else self._new(name, type)

    def define(self, value: Value, *parts: Reg) -> None:
        """Definition of a value by registers, copied where the value has registers already, or where these may
        change."""
        if value.name in self.variables or value.name in self.values:
            for target, part in zip(self.parts(value), parts, strict=True):
                # A name with registers already is a variable out of SSA form: its register is written in place.
                self.move(target, part)
        # What the register holds may change before the value is used last.
        elif any(part in self.shared or 0 < part.number < PHYSICAL for part in parts):
            kept = (part if part == ZERO else self.move(self.b.fresh(part.bank), part) for part in parts)
            self.values[value.name] = tuple(kept)
        else:
            self.values[value.name] = parts

    def move(self, target: Reg, source: Reg) -> Reg:
        self.b.put("mv" if target.bank == "x" else "fmv", target, source)
        return target

    def address(self, name: str, offset: int) -> Reg:
        """Address of a datum, which is a constant, or of a function, which has a place only when all are linked:
        pc-relative.
        """
        if name in self.layout.places:
            return self.b.constant(self.layout.places[name] + offset)
        found = self.b.make("function", name)
        return self.b.make("add", found, self.b.constant(offset)) if offset else found

    def immediate(self, operand: Operand, legal: range = IMMEDIATE) -> int | None:
        """Constant that fits the immediate field of an instruction (I-type: 12 bits with a sign); None for other
        operands.
        """
        return (
            operand.value
            if isinstance(operand, Constant) and operand.type not in FLOATS and operand.value in legal
            else None
        )

    def canonical(self, type: Type, register: Reg) -> Reg:
        """Sign extension of the value in the low bits: how values of the type are held. An i1 becomes 0 or 1."""
        width = WIDTH[type]
        if type == PTR or width >= self.isa.xlen:
            return register
        if width == 1:
            return self.b.make("andi", register, 1)
        if width == 32:
            # `sext.w` of the assembler: on RV64 a word operation extends its result (RISC-V unprivileged manual,
            # RV64I).
            return self.b.make("addiw", register, 0)
        if self.has("zbb"):
            return self.b.make("sext.b" if width == 8 else "sext.h", register)
        return self.b.make("srai", self.b.make("slli", register, self.isa.xlen - width), self.isa.xlen - width)

    def unsigned(self, type: Type, register: Reg) -> Reg:
        """Zero extension of the value in the low bits."""
        width = WIDTH[type]
        if type == PTR or width >= self.isa.xlen:
            return register
        if width <= 8:
            return self.b.make("andi", register, (1 << width) - 1)
        if width == 16 and self.has("zbb"):
            return self.b.make("zext.h", register)
        return self.b.make("srli", self.b.make("slli", register, self.isa.xlen - width), self.isa.xlen - width)

    def memory(self, size: int, align: int) -> int:
        """Stack allocation: the offset in the frame of `size` new bytes."""
        place = -(-self.frame // align) * align
        self.frame = place + size
        return place

    def scratch_address(self) -> Reg:
        """Scratch slot of eight bytes in the frame, through which registers of different banks exchange values: RV32
        has no move between x and f registers for doubles.
        """
        if self.scratch is None:
            self.scratch = self.memory(8, 8)
        return self.b.make("frame", self.scratch)

    def _new(self, name: str, type: Type) -> tuple[Reg, ...]:
        """Fresh virtual registers for a value."""
        bank = "f" if type in FLOATS else "x"
        made = tuple(self.b.fresh(bank) for _ in range(2 if self.is_wide(type) else 1))
        self.values[name] = made
        if name in self.variables:
            self.shared.update(made)
        return made

    def _integer(self, value: int) -> Reg:
        """Materialization of an integer. A long one comes from the constant pool: two instructions in the place of up
        to eight.
        """
        place = self.layout.word(value) if len(constant_chain(value, self.isa.xlen)) > LONG else None
        if place is None:
            return self.b.constant(value)
        if value not in self.b.constants:
            low = (place + 2048) % 4096 - 2048
            self.b.constants[value] = self.b.make("ld", low, self.b.constant(place - low))
        return self.b.constants[value]

    def _float(self, type: Type, bits: int) -> Reg:
        """Materialization of a float: +0 from the zero register, others from the constant pool."""
        if bits == 0 and (type == F32 or self.isa.xlen == 64):
            return self.b.make("fmv.w.x" if type == F32 else "fmv.d.x", ZERO)
        if bits == 0:
            # RV32 has no fmv.d.x; the conversion of integer zero is exact and gives +0.
            return self.b.make("fcvt.d.w", ZERO)
        place = self.layout.constant(type, bits)
        # The low 12 bits are signed in `lui` and load pairs: the upper part makes up for the sign.
        low = (place + 2048) % 4096 - 2048
        return self.b.make("flw" if type == F32 else "fld", low, self.b.constant(place - low))
