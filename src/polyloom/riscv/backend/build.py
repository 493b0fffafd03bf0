# SPDX-License-Identifier: Apache-2.0
"""Instruction builder over virtual registers: table rows, the assembler's pseudo-instructions, constants, and lines of
the select table.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache

from polyloom.ir.ssa import NOWHERE
from polyloom.riscv.backend.code import PHYSICAL, PSEUDO, ZERO, Bank, Op, Operand, Reg, instruction_row
from polyloom.riscv.backend.pairs import copy_instruction, pair
from polyloom.riscv.isa import X_NAMES, register_number
from polyloom.riscv.names import Isa
from polyloom.riscv.pseudo import constant_chain, pseudo_table
from polyloom.riscv.selects.short_branch import ShortForward
from polyloom.riscv.selects.table import Line
from polyloom.twos_complement import sign_extend

DYNAMIC, TOWARDS_ZERO = 7, 1
"""Rounding modes."""


class Builder:
    """Builder. Mutable: the instructions of the block so far; `place` is the source place of the next ones."""

    def __init__(self, isa: Isa) -> None:
        self.isa, self.ops, self.count = isa, list[Op](), PHYSICAL
        self.place = NOWHERE
        self.constants: dict[int, Reg] = {}

    def fresh(self, bank: Bank = "x") -> Reg:
        self.count += 1
        return Reg(bank, self.count - 1)

    def take(self) -> tuple[Op, ...]:
        """The instructions so far; the next block begins, in which no constant is known yet."""
        # Constants are forgotten at the end of a block: another block may be reached without this one.
        made, self.ops, self.constants = tuple(self.ops), [], {}
        return made

    def put(self, mnemonic: str, *operands: Operand) -> None:
        """Appends an instruction. A rounding mode and the order bits of an atomic one may be left out: they become
        dynamic and none.
        """
        mnemonic, operands = expand_pseudo(mnemonic, operands)
        if mnemonic not in PSEUDO:
            rest = instruction_row(mnemonic, self.isa).fields[len(operands) :]
            operands = (*operands, *(DYNAMIC if field.name == "rm" else 0 for field in rest))
        self.ops.append(Op(mnemonic, operands, self.place))

    def make(self, mnemonic: str, *operands: Operand, to: Reg | None = None) -> Reg:
        """Appends an instruction with a result, in `to` or in a new register, and returns that."""
        first = expand_pseudo(mnemonic, (ZERO, *operands))[0]
        result = to or self.fresh(
            "f"
            if first == "fmv" or (first not in PSEUDO and instruction_row(first, self.isa).fields[0].kind == "f")
            else "x"
        )
        self.put(mnemonic, result, *operands)
        return result

    def constant(self, value: int) -> Reg:
        """Materialization of `value` modulo 2**XLEN, once per block. Zero is the zero register."""
        value = sign_extend(value, self.isa.xlen)
        if value == 0:
            return ZERO
        # Per block, because a register of another block may not be set on every path to here.
        if value not in self.constants:
            made = ZERO
            for mnemonic, operand in constant_chain(value, self.isa.xlen):
                made = self.make(mnemonic, *([] if mnemonic == "lui" else [made]), _immediate(mnemonic, int(operand)))
            self.constants[value] = made
        return self.constants[value]

    def lines(self, lines: Sequence[Line | ShortForward], values: Mapping[str, Reg]) -> Reg:
        """Sequence of the select table, as instructions; the register of its result. The sequence may end in a pair
        (pairs.py).
        """
        places: dict[str, Reg] = {**values, "zero": ZERO}
        made = ZERO
        for line in lines:
            if isinstance(line, ShortForward):
                self._pair(line, places, made)
            else:
                made = self.make((operation := _operation(line, places))[0], *operation[1])
                places[line.operands[0]] = made
        return made

    def _pair(self, line: ShortForward, places: Mapping[str, Reg], kept: Reg) -> None:
        """A branch over one instruction. `kept` was made for this pair, and becomes its result."""
        mnemonic, operands = _operation(line.line, places)
        if mnemonic == "mv":
            # The shadow must be one instruction of the table: a move has two spellings, of which one compresses.
            mnemonic, operands = copy_instruction(operands[0], "c" in self.isa.extensions)
        branch = Op(*expand_pseudo(line.branch, (*(places[o] for o in line.operands), 0)), self.place)
        self.ops.append(pair(branch, Op(*expand_pseudo(mnemonic, (kept, *operands)))))


def _operation(line: Line, places: Mapping[str, Reg]) -> tuple[str, tuple[Operand, ...]]:
    """Mnemonic and sources of a line, without its result."""
    if line.mnemonic == "li":
        return "addi", (ZERO, int(line.operands[1]))
    return line.mnemonic, tuple(
        places[o] if o in places else _immediate(line.mnemonic, int(o)) for o in line.operands[1:]
    )


def expand_pseudo(mnemonic: str, operands: tuple[Operand, ...]) -> tuple[str, tuple[Operand, ...]]:
    """Expansion of an assembler's pseudo-instruction that stands for a single instruction; others as they are."""
    if mnemonic in PSEUDO or (mnemonic, len(operands)) not in pseudo_table():
        return mnemonic, operands
    names, (line, *_) = pseudo_table()[mnemonic, len(operands)]
    given = dict(zip(names, operands, strict=True))
    first, words = _split_line(line)
    return first, tuple(given[word] if word in given else _register_or_number(word) for word in words)


@cache
def _split_line(line: str) -> tuple[str, tuple[str, ...]]:
    mnemonic, _, rest = line.partition(" ")
    return mnemonic, tuple(rest.replace("(", ",").rstrip(")").split(","))


def _register_or_number(word: str) -> Operand:
    number = register_number(word, X_NAMES)
    return int(word) if number is None else Reg("x", number)


def _immediate(mnemonic: str, value: int) -> int:
    """Immediate from how it is written: the assembler's operand of lui counts units of 4096."""
    return sign_extend(value << 12, 32) if mnemonic == "lui" else value
