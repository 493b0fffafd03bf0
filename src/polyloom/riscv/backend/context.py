# SPDX-License-Identifier: Apache-2.0
"""What instruction selection knows of a function: which registers hold a value, which instructions are folded into
their user.

An integer narrower than a register is held sign-extended, an i1 as 0 or 1, so that comparisons need no care (sign
extension keeps the unsigned order, too). A value whose uses ask for no more than its own bits is loose, unless what
makes it extends it anyway: its upper bits are anything. On RV32 an i64 is held in two registers, low half first. An
instruction with one use, by one that can take it in, is deferred to it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Final

from polyloom.ir.ssa import (
    ARITHMETIC,
    COMPARISONS,
    Address,
    Block,
    Branch,
    Constant,
    Function,
    Instruction,
    Operand,
    Undef,
    Value,
)
from polyloom.ir.ssa_types import F32, FLOATS, I1, I8, I16, I32, I64, PTR, WIDTH, Type
from polyloom.ir.ssa_verify import definitions, uses
from polyloom.riscv.backend.build import Builder
from polyloom.riscv.backend.code import PHYSICAL, ZERO, Reg
from polyloom.riscv.backend.data import Layout
from polyloom.riscv.names import Isa

IMMEDIATE: Final = range(-2048, 2048)
RING: Final = ("add", "sub", "and", "or", "xor", "mul", "shl")
"""Operations whose low bits depend on low bits alone."""
FUNCTIONS: Final = {"smin": "min", "smax": "max", "umin": "minu", "umax": "maxu", "abs": "abs", "usub.sat": "satsubu"}
"""Intrinsics that the select table has."""


class Context:
    """Mutable: the instructions made so far and where values are. `emit` selects an instruction."""

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
        users = _users(function)
        self.deferred: Final = dict(_deferred(function, users, self.variables, isa))
        self.inverses: Final = dict(_inverses(function, self.variables))
        self.zero_extended: Final = frozenset(_zero_extended(function, users))
        tolerant = {name for name, found in users.items() if all(_tolerates(user, name, isa) for _, user in found)}
        extended = {*_sign_extended(function, isa)} - self.zero_extended
        # Variables are copies of values that are not loose: a copy does not tolerate it.
        self.loose: Final = frozenset(tolerant - extended - self.variables)

    def is_wide(self, type: Type) -> bool:
        return type == I64 and self.isa.xlen == 32

    def has(self, extension: str) -> bool:
        return extension in self.isa.extensions

    def reg(self, operand: Operand) -> Reg:
        """The register of a value that needs one."""
        return self.parts(operand)[0]

    def pair(self, operand: Operand) -> tuple[Reg, Reg]:
        """The registers of an i64 on RV32."""
        low, high = self.parts(operand)
        return low, high

    def parts(self, operand: Operand) -> tuple[Reg, ...]:
        match operand:
            case Constant(type, value) if type in FLOATS:
                return (self._float(type, value),)
            case Constant(type, value):
                return (
                    (self.b.constant(value), self.b.constant(value >> 32))
                    if self.is_wide(type)
                    else (self.b.constant(value),)
                )
            case Undef(type):
                return (self._float(type, 0),) if type in FLOATS else (ZERO, ZERO) if self.is_wide(type) else (ZERO,)
            case Address(name, offset):
                return (self.address(name, offset),)
            case Value(name, type):
                # Emitted where its user stands; what no user asks for is never emitted.
                if name in self.deferred and name not in self.values:
                    self.emit(self, self.deferred[name])
                return self.values[name] if name in self.values else self._new(name, type)

    def define(self, value: Value, *parts: Reg) -> None:
        """The value is what the registers hold. Where it has registers already, or these may change, it is copied."""
        if value.name in self.variables or value.name in self.values:
            for target, part in zip(self.parts(value), parts, strict=True):
                self.move(target, part)
        # What the register holds may change before the value is used last.
        elif any(part in self.shared or 0 < part.number < PHYSICAL for part in parts):
            self.values[value.name] = tuple(self.move(self.b.fresh(part.bank), part) for part in parts)
        else:
            self.values[value.name] = parts

    def move(self, target: Reg, source: Reg) -> Reg:
        self.b.put("mv" if target.bank == "x" else "fmv", target, source)
        return target

    def address(self, name: str, offset: int) -> Reg:
        """Of a datum, or of a function, which has a place only when all are linked."""
        if name in self.layout.places:
            return self.b.constant(self.layout.places[name] + offset)
        found = self.b.make("function", name)
        return self.b.make("add", found, self.b.constant(offset)) if offset else found

    def immediate(self, operand: Operand, legal: range = IMMEDIATE) -> int | None:
        """A constant that an instruction can hold."""
        return (
            operand.value
            if isinstance(operand, Constant) and operand.type not in FLOATS and operand.value in legal
            else None
        )

    def canonical(self, type: Type, register: Reg) -> Reg:
        """The value in the low bits, as values of the type are held."""
        width = WIDTH[type]
        if type == PTR or width >= self.isa.xlen:
            return register
        if width == 1:
            return self.b.make("andi", register, 1)
        if width == 32:
            return self.b.make("addiw", register, 0)
        if self.has("zbb"):
            return self.b.make("sext.b" if width == 8 else "sext.h", register)
        return self.b.make("srai", self.b.make("slli", register, self.isa.xlen - width), self.isa.xlen - width)

    def unsigned(self, type: Type, register: Reg) -> Reg:
        """The value in the low bits, zero-extended."""
        width = WIDTH[type]
        if type == PTR or width >= self.isa.xlen:
            return register
        if width <= 8:
            return self.b.make("andi", register, (1 << width) - 1)
        if width == 16 and self.has("zbb"):
            return self.b.make("zext.h", register)
        return self.b.make("srli", self.b.make("slli", register, self.isa.xlen - width), self.isa.xlen - width)

    def memory(self, size: int, align: int) -> int:
        """The place of new bytes in the frame."""
        place = -(-self.frame // align) * align
        self.frame = place + size
        return place

    def scratch_address(self) -> Reg:
        """Eight bytes of the frame, through which registers of different banks exchange values."""
        if self.scratch is None:
            self.scratch = self.memory(8, 8)
        return self.b.make("frame", self.scratch)

    def _new(self, name: str, type: Type) -> tuple[Reg, ...]:
        bank = "f" if type in FLOATS else "x"
        made = tuple(self.b.fresh(bank) for _ in range(2 if self.is_wide(type) else 1))
        self.values[name] = made
        if name in self.variables:
            self.shared.update(made)
        return made

    def _float(self, type: Type, bits: int) -> Reg:
        """+0 comes from the zero register, others from memory."""
        if bits == 0 and (type == F32 or self.isa.xlen == 64):
            return self.b.make("fmv.w.x" if type == F32 else "fmv.d.x", ZERO)
        if bits == 0:
            return self.b.make("fcvt.d.w", ZERO)
        place = self.layout.constant(type, bits)
        # The low 12 bits are signed in `lui` and load pairs: the upper part makes up for the sign.
        low = (place + 2048) % 4096 - 2048
        return self.b.make("flw" if type == F32 else "fld", low, self.b.constant(place - low))


Users = dict[str, list[tuple[Block, Instruction | None]]]


def _users(function: Function) -> Users:
    """By value the instructions that use it, with None for the end of a block."""
    found: Users = {value.name: [] for block in function.blocks for value in definitions(block)}
    for block in function.blocks:
        for k, operands in uses(block):
            for operand in operands:
                if isinstance(operand, Value):
                    found[operand.name].append((block, block.instructions[k] if k < len(block.instructions) else None))
    return found


def _inverses(function: Function, variables: frozenset[str]) -> Iterator[tuple[str, Operand]]:
    """The values that are the complement of another, which does not change."""
    for instruction in (i for block in function.blocks for i in block.instructions if i.operation == "xor"):
        a, b = instruction.operands
        if (
            instruction.result is not None
            and isinstance(a, Value)
            and a.name not in variables
            and isinstance(b, Constant)
            and b.value == -1
        ):
            yield instruction.result.name, a


def _sign_extended(function: Function, isa: Isa) -> Iterator[str]:
    """The results of instructions that extend the sign themselves: loads and, on RV64, those that have word forms."""
    for instruction in (i for block in function.blocks for i in block.instructions):
        is_word = instruction.operation in ARITHMETIC and instruction.operation not in ("and", "or", "xor")
        if instruction.operation == "load" or (is_word and isa.xlen == 64):
            types = (I8, I16, I32) if instruction.operation == "load" else (I32,)
            yield from (result.name for result in instruction.results if result.type in types)


def _zero_extended(function: Function, users: Users) -> Iterator[str]:
    """Loads of which only the zero-extended value is used."""
    for instruction in (i for block in function.blocks for i in block.instructions if i.operation == "load"):
        result = instruction.result
        found = users[result.name] if result is not None else []
        if (
            result is not None
            and result.type in (I8, I16, I32)
            and found
            and all(user is not None and user.operation == "zext" for _, user in found)
        ):
            yield result.name


def _deferred(function: Function, users: Users, variables: frozenset[str], isa: Isa) -> list[tuple[str, Instruction]]:
    """The instructions that are selected with their user."""
    made: list[tuple[str, Instruction]] = []
    for block in function.blocks:
        for instruction in block.instructions:
            result = instruction.result
            if result is None or result.name in variables or not users[result.name]:
                continue
            found = users[result.name]
            inside = all(where is block for where, _ in found)
            alone = inside and len(found) == 1
            if _is_address(instruction, found, inside, variables) or (
                alone and _is_part(instruction, block, found[0][1], isa)
            ):
                made.append((result.name, instruction))
    return made


def _is_address(
    instruction: Instruction, users: list[tuple[Block, Instruction | None]], inside: bool, variables: frozenset[str]
) -> bool:
    """Whether this is a constant distance from a pointer that only loads and stores use as their address."""
    if (
        instruction.operation != "offset"
        or not isinstance(instruction.operands[1], Constant)
        or instruction.operands[1].value not in range(-2048, 2041)
    ):
        return False
    base = instruction.operands[0]
    # Its base must still have the same value where the address is used.
    kept = inside or not isinstance(base, Value) or base.name not in variables
    return kept and all(user is not None and _addresses(user, instruction.result) for _, user in users)


def _addresses(user: Instruction, value: Value | None) -> bool:
    return (user.operation == "load") or (
        user.operation == "store" and user.operands[1] == value and user.operands[0] != value
    )


def _is_part(instruction: Instruction, block: Block, user: Instruction | None, isa: Isa) -> bool:
    """Whether it can be a part of the user's expression: a condition, or an arm of a select."""
    operation, result = instruction.operation, instruction.result
    compared = operation in COMPARISONS and WIDTH[instruction.operands[0].type] <= isa.xlen
    if user is None:
        return compared and isinstance(block.terminator, Branch)
    if user.operation != "select" or user.operands[1].type in FLOATS or result is None:
        return False
    if user.operands[0] == result:
        return compared and user.operands[1].type != I1
    # Right shifts bring high bits down, so that these must be right: only whole registers qualify.
    wide = WIDTH[result.type] == isa.xlen or (result.type == PTR and operation == "select")
    return WIDTH[user.operands[1].type] <= isa.xlen and (
        operation in RING or (wide and operation in ("lshr", "ashr")) or operation == "select"
    )


def _tolerates(user: Instruction | None, name: str, isa: Isa) -> bool:
    """Whether the user's result is right whatever the bits above the value's own are."""
    if user is None:
        return False
    operands = [isinstance(o, Value) and o.name == name for o in user.operands]
    match user.operation:
        case "store":
            return not operands[1]
        case "trunc" | "zext" | "sext":
            return True
        case operation if operation in ARITHMETIC and user.operands[0].type == I32 and isa.xlen == 64:
            # On RV64 the word forms read 32 bits only; bitwise operations have no word forms.
            return operation not in ("and", "or", "xor")
        case "add" | "sub" | "mul":
            return WIDTH[user.operands[0].type] < 32
        case _:
            return False
