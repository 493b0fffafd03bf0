# SPDX-License-Identifier: Apache-2.0
"""Lowering of a function in SSA form to the program of one hart of a litmus test.

Pointer parameters, data and local variables are locations. Every value has a register of its own, so that a final state
shows what each load has read; integers are kept sign-extended, i1 as 0 or 1. Comparisons and selects are written by the
select table, memory orders by the fences of "Mappings from C/C++ primitives to RISC-V primitives" (RISC-V unprivileged
manual, appendix "RVWMO Explanatory Material"). Branches stay branches.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from polyloom.diagnostics import PolyloomError, input_error
from polyloom.ir.ssa import (
    COMPARISONS,
    NOWHERE,
    Address,
    Branch,
    Constant,
    Function,
    Instruction,
    Jump,
    Operand,
    Return,
    Terminator,
    Value,
    successor_edges,
)
from polyloom.ir.ssa_text import print_instruction
from polyloom.ir.ssa_types import F32, F64, I1, I32, I64, PTR, SIZE, WIDTH, Type
from polyloom.riscv.backend.atomics import MNEMONICS
from polyloom.riscv.isa import X_NAMES, register_number
from polyloom.riscv.names import Isa
from polyloom.riscv.rvwmo import litmus
from polyloom.riscv.rvwmo.litmus import Declaration, Register, Statement
from polyloom.riscv.rvwmo.values import Pointer
from polyloom.riscv.rvwmo.values import signed as wrapped
from polyloom.riscv.selects.expression import RELATIONS, Expression, Node, comparison
from polyloom.riscv.selects.select import select_expression
from polyloom.transform.ssa.destruct import destruct

_SMALL: Final = (
    "litmus tests are made of small functions: integers, pointers, loads, stores, fences, comparisons, "
    "selects and branches"
)
# x5 to x23 hold values, x24 to x31 temporaries of one instruction: tests have no calling convention, but ra to tp are
# left alone.
_FIRST, _SCRATCH, _LAST = 5, 24, 31
_ARITHMETIC: Final = {
    "add": "add",
    "sub": "sub",
    "shl": "sll",
    "lshr": "srl",
    "ashr": "sra",
    "and": "and",
    "or": "or",
    "xor": "xor",
}
_BITWISE: Final = ("and", "or", "xor")
LETTERS: Final = {1: "b", 2: "h", 4: "w", 8: "d"}
_SUFFIXES: Final = {"monotonic": "", "acquire": ".aq", "release": ".rl", "acq_rel": ".aqrl", "seq_cst": ".aqrl"}
_FENCES: Final = {
    "acquire": ("fence", "r", "rw"),
    "release": ("fence", "rw", "w"),
    "acq_rel": ("fence.tso",),
    "seq_cst": ("fence", "rw", "rw"),
    "load_store": ("fence", "r", "w"),
}


@dataclass(frozen=True, slots=True)
class Access:
    """Memory access: a load into register `number`, or a store (None), of `width` bytes; `racy`: volatile or atomic."""

    number: int | None
    width: int
    locations: frozenset[str]
    racy: bool


@dataclass(frozen=True, slots=True)
class Program:
    """Program of a hart: its statements, initial registers and memory, and its accesses to memory in the order of the
    text.

    `shared` are the locations that other harts know.
    """

    statements: tuple[Statement, ...]
    declarations: tuple[Declaration, ...]
    accesses: tuple[Access, ...]
    shared: frozenset[str]


def lower_function(function: Function, isa: Isa, values: Mapping[str, int]) -> Program:
    """The function as hart 0; `values` are those of its integer parameters. Errors: PL0947, PL0948."""
    return _Writer(destruct(function), isa, values).program()


@dataclass(slots=True)
class _Writer:
    """Writer of the program. Mutable, since it is written from first to last."""

    function: Function
    isa: Isa
    values: Mapping[str, int]
    statements: list[Statement] = field(default_factory=list[Statement])
    registers: dict[str, int] = field(default_factory=dict[str, int])
    declarations: list[Declaration] = field(default_factory=list[Declaration])
    accesses: list[Access] = field(default_factory=list[Access])
    labels: tuple[str, ...] = ()
    scratch: int = _SCRATCH
    line: int = 0

    def program(self) -> Program:
        blocks = self.function.blocks
        targets = {edge.block for block in blocks for edge in successor_edges(block.terminator)}
        for block, after in zip(blocks, [*(b.name for b in blocks[1:]), ""], strict=True):
            self.labels += (self._label(block.name),) if block.name in targets else ()
            for instruction in block.instructions:
                self.scratch, self.line = _SCRATCH, instruction.place.line
                self._instruction(instruction)
            self.scratch, self.line = _SCRATCH, block.terminator.place.line
            self._terminator(block.terminator, after)
        self.statements.append(Statement(None, (*self.labels, "END")))
        shared = {_location_name(p.name) for p in self.function.parameters if p.type == PTR} | {
            _location_name(d.name) for d in self.function.data
        }
        return Program(
            _with_used_labels(self.statements), tuple(self.declarations), tuple(self.accesses), frozenset(shared)
        )

    def _instruction(self, instruction: Instruction) -> None:
        name, operands, result = instruction.operation, instruction.operands, instruction.result
        if name in ("load", "store"):
            self._access(instruction)
        elif name == "rmw" and instruction.callee in MNEMONICS:
            self._read_modify_write(instruction)
        elif name == "fence" and instruction.access is not None:
            self._fence(instruction.access.order)
        elif name == "alloca" and result is not None:
            self._pointer(result.name)
        elif result is None or any(operand.type in (F32, F64) for operand in (*operands, result)):
            raise self._refuse(instruction)
        elif name in COMPARISONS:
            self._table_sequence(
                result,
                comparison(RELATIONS[name], self._atom("a", operands[0]), self._atom("b", operands[1])),
                operands,
                "ab",
            )
        elif name == "select":
            arms = (self._atom(letter, operand) for letter, operand in zip("ab", operands[1:], strict=True))
            self._table_sequence(result, Node("?", ("s", *arms)), operands, "sab")
        elif name in ("copy", "sext", "zext", "trunc"):
            self._convert(name, result, operands[0])
        elif name in _ARITHMETIC or name == "offset":
            self._arithmetic("add" if name == "offset" else name, result, *operands)
        else:
            raise self._refuse(instruction)

    def _terminator(self, terminator: Terminator, after: str) -> None:
        match terminator:
            case Jump(target):
                self._jump(target.block, after)
            case Branch(condition, then, orelse) if then.block == after:
                self._write("beq", self._register(condition), "x0", self._label(orelse.block))
            case Branch(condition, then, orelse):
                self._write("bne", self._register(condition), "x0", self._label(then.block))
                self._jump(orelse.block, after)
            case Return():
                if after:
                    self._write("j", "END")
            case _:
                raise self._error(
                    "the memory model has no 'switch'"
                    if successor_edges(terminator)
                    else "control may reach a point that has no meaning"
                )

    def _jump(self, block: str, after: str) -> None:
        if block != after:
            self._write("j", self._label(block))

    # Memory

    def _access(self, instruction: Instruction) -> None:
        address, access, result = instruction.operands[-1], instruction.access, instruction.result
        type = result.type if result else instruction.operands[0].type
        order = access.order if access else ""
        if type in (I1, F32, F64):
            raise self._refuse(instruction)
        # The mapping of C11 atomics to RVWMO of the specification's appendix A, table "Mappings from C/C++ primitives".
        if order == "seq_cst" or (not result and order == "release"):
            self._fence("seq_cst" if result else "release")
        where, letter = f"0({self._register(address)})", LETTERS[SIZE[type]]
        number = self._number(result) if result else None
        if result:
            self._write(f"l{letter}", self._register(result), where)
        else:
            self._write(f"s{letter}", self._register(instruction.operands[0]), where)
        racy = access is not None and (access.volatile or bool(order))
        self.accesses.append(Access(number, SIZE[type], _possible_locations(self.function, address), racy))
        if result and order in ("acquire", "seq_cst"):
            self._fence("acquire")

    def _read_modify_write(self, instruction: Instruction) -> None:
        """AMO of a read-modify-write. Errors: PL0947 for what is a loop over `cas`."""
        (address, value), result = instruction.operands, instruction.result
        order = instruction.access.order if instruction.access else "seq_cst"
        if result is None or SIZE[value.type] < SIZE[I32]:
            raise self._refuse(instruction)
        width = SIZE[value.type]
        mnemonic = f"{MNEMONICS[instruction.callee]}.{LETTERS[width]}{_SUFFIXES[order]}"
        self._write(mnemonic, self._register(result), self._register(value), f"({self._register(address)})")
        where = _possible_locations(self.function, address)
        self.accesses += [Access(self._number(result), width, where, True), Access(None, width, where, True)]

    def _fence(self, order: str) -> None:
        mnemonic, *sets = _FENCES[order]
        self._write(mnemonic, *sets)

    # Values

    def _table_sequence(self, result: Value, expression: Expression, operands: Iterable[Operand], names: str) -> None:
        """Sequence of the select table; names that it does not use were constants."""
        given = dict(zip(names, operands, strict=True))
        made: dict[str, str] = {"zero": "x0", "rd": self._register(result)}
        for line in select_expression(expression, self.isa).lines:
            target, *sources = line.operands
            texts = [made[s] if s in made else self._register(given[s]) if s in given else s for s in sources]
            if target not in made:
                made[target] = self._temporary()
            self._write(line.mnemonic, made[target], *texts)

    def _convert(self, name: str, result: Value, operand: Operand) -> None:
        """Integer conversion. Values are sign-extended at every width: only narrower values and unsigned ones need
        instructions.
        """
        rd, width = self._register(result), WIDTH[operand.type]
        if name == "copy" and isinstance(operand, Constant):
            self._write("li", rd, str(operand.value))
        elif name == "copy" or (name == "zext" and width == 1) or (name == "sext" and width > 1):
            self._write("mv", rd, self._register(operand))
        elif name == "sext":
            self._write("neg", rd, self._register(operand))
        else:
            self._extend(
                rd, self._register(operand), *(("srli", width) if name == "zext" else ("srai", WIDTH[result.type]))
            )

    def _extend(self, rd: str, source: str, shift: str, width: int) -> None:
        if width == 1:
            self._write("andi", rd, source, "1")
        elif width < WIDTH[I64]:
            self._write("slli", rd, source, str(64 - width))
            self._write(shift, rd, rd, str(64 - width))

    def _arithmetic(self, name: str, result: Value, left: Operand, right: Operand) -> None:
        rd, width = self._register(result), WIDTH[result.type]
        first = self._register(left)
        if width < WIDTH[I32] and name == "lshr":
            self._extend(scratch := self._temporary(), first, "srli", width)
            first = scratch
        # Bitwise operations of sign-extended words give sign-extended words.
        suffix = "w" if width == WIDTH[I32] and name not in _BITWISE else ""
        if isinstance(right, Constant) and name != "sub" and -2048 <= right.value < 2048:
            self._write(f"{_ARITHMETIC[name]}i{suffix}", rd, first, str(right.value))
        else:
            self._write(f"{_ARITHMETIC[name]}{suffix}", rd, first, self._register(right))
        if width < WIDTH[I32] and name not in _BITWISE:
            self._extend(rd, rd, "srai", width)

    def _atom(self, name: str, operand: Operand) -> Expression:
        """A constant as such, another operand by the name that the table is to use."""
        return operand.value if isinstance(operand, Constant) and operand.type != PTR else name

    # Registers

    def _register(self, operand: Operand) -> str:
        """The register that holds an operand; constants are loaded into one."""
        match operand:
            case Value():
                return f"x{self._number(operand)}"
            case Address(name, offset):
                base = f"x{self._pointer(name)}"
                if not offset:
                    return base
                self._write("addi", made := self._temporary(), base, str(offset))
                return made
            case Constant(_, value) if value:
                self._write("li", made := self._temporary(), str(wrapped(value)))
                return made
            case _:
                return "x0"

    def _number(self, value: Value) -> int:
        """The register of a value; parameters are declared when they are first used."""
        if value.name in self.registers:
            return self.registers[value.name]
        if value not in self.function.parameters:
            return self._fresh(value.name)
        if value.type == PTR:
            return self._pointer(value.name)
        number = self._fresh(value.name)
        if value.name not in self.values:
            raise input_error(
                "PL0948",
                f"the parameter {value.name} of {self.function.name} has no value",
                help=f"give one, as in {value.name}=1",
            )
        self.declarations.append(Declaration(Register(0, number), _wrap_value(value.type, self.values[value.name])))
        return number

    def _pointer(self, name: str) -> int:
        """The register that holds the address of a location from the beginning."""
        if name not in self.registers:
            datum = next((d for d in self.function.data if d.name == name), None)
            if datum is not None and any(datum.initial):
                if len(datum.initial) not in LETTERS:
                    raise self._error(f"the initial value of {name} has {len(datum.initial)} bytes")
                self.declarations.append(
                    Declaration(_location_name(name), int.from_bytes(datum.initial, "little", signed=True))
                )
            self.declarations.append(Declaration(Register(0, self._fresh(name)), Pointer(_location_name(name))))
        return self.registers[name]

    def _fresh(self, name: str) -> int:
        number = self.registers.setdefault(name, _FIRST + len(self.registers))
        if number >= _SCRATCH:
            raise self._error(
                f"{self.function.name} has more than {_SCRATCH - _FIRST} values, each of which needs a register of "
                "its own"
            )
        return number

    def _temporary(self) -> str:
        if self.scratch > _LAST:
            raise self._error("an instruction needs too many temporary registers")
        self.scratch += 1
        return f"x{self.scratch - 1}"

    # Text

    def _write(self, mnemonic: str, *operands: str) -> None:
        self.statements.append(Statement(litmus.Instruction(mnemonic, operands), self.labels))
        self.labels = ()

    def _label(self, block: str) -> str:
        return f"L{[b.name for b in self.function.blocks].index(block)}"

    def _refuse(self, instruction: Instruction) -> PolyloomError:
        if instruction.called:
            help = (
                "where it is `noinline`, add `-D noinline=`, with which it becomes part of its caller; a recursive "
                "one cannot"
            )
            return self._error(f"`{instruction.called}` stays a call, which litmus tests have not", help)
        return self._error(f"the memory model has no `{print_instruction(replace(instruction, place=NOWHERE))}`")

    def _error(self, message: str, help: str = _SMALL) -> PolyloomError:
        where = f"line {self.line}: " if self.line else ""
        return input_error("PL0947", where + message, help=help)


def _with_used_labels(statements: Iterable[Statement]) -> tuple[Statement, ...]:
    used = {
        s.instruction.operands[-1]
        for s in statements
        if s.instruction and s.instruction.mnemonic in ("j", "beq", "bne")
    }
    kept = (Statement(s.instruction, tuple(label for label in s.labels if label in used)) for s in statements)
    return tuple(s for s in kept if s.instruction or s.labels)


def _wrap_value(type: Type, value: int) -> int:
    return value & 1 if type == I1 else wrapped(value, WIDTH[type])


def _location_name(name: str) -> str:
    """Name of a location: letters, digits and underscores, and no register's."""
    plain = re.sub(r"\W", "_", name)
    return f"{plain}_" if register_number(plain, X_NAMES) is not None or not plain[0].isalpha() else plain


def _possible_locations(function: Function, address: Operand) -> frozenset[str]:
    """Points-to set of an address; none of what is read from memory."""
    found: set[str] = set()
    seen: set[Operand] = set()
    work = [address]
    defined = [(i.result, i) for block in function.blocks for i in block.instructions if i.result]
    while work:
        operand = work.pop()
        if operand in seen:
            continue
        seen.add(operand)
        sources = [i for result, i in defined if result == operand]
        if (
            isinstance(operand, Address)
            or operand in function.parameters
            or any(i.operation == "alloca" for i in sources)
        ):
            found.add(_location_name(operand.name) if isinstance(operand, Address | Value) else "")
        work += [o for i in sources if i.operation in ("copy", "select", "offset") for o in i.operands if o.type == PTR]
    return frozenset(found)
