# SPDX-License-Identifier: Apache-2.0
"""Conditional values as expressions of the select table: a select with its comparison and its arms, minima, absolute
values.

The table computes with whole registers. For a narrower type that is right where arms are ring operations, whose low
bits depend on low bits alone, and where what is compared is held exactly; the result is extended again.
"""

from __future__ import annotations

from functools import cache
from typing import Final

from polyloom.ir.ssa import COMPARISONS, Constant, Instruction, Operand, Value
from polyloom.ir.ssa_types import I1, I32, PTR, WIDTH, Type
from polyloom.riscv.backend.code import Reg
from polyloom.riscv.backend.context import FUNCTIONS, Context
from polyloom.riscv.names import Isa
from polyloom.riscv.selects.expression import FUNCTIONS as MEANINGS
from polyloom.riscv.selects.expression import RELATIONS, Expression, Node, binary, choose, comparison, unary
from polyloom.riscv.selects.select import select_expression
from polyloom.riscv.selects.short_branch import ShortForward, best_sequence
from polyloom.riscv.selects.table import Line

_BINARY: Final = {
    "add": "+",
    "sub": "-",
    "mul": "*",
    "and": "&",
    "or": "|",
    "xor": "^",
    "shl": "<<",
    "lshr": ">>u",
    "ashr": ">>",
}
_WORDS: Final = {"add": "addw", "sub": "subw", "neg": "negw", "addi": "addiw", "sll": "sllw", "slli": "slliw"}


class Names:
    """Names of an expression's registers, in the order of their first use, so that equal forms are selected once
    (cached).
    """

    def __init__(self) -> None:
        self.registers: dict[str, Reg] = {}

    def of(self, register: Reg, is_boolean: bool) -> Expression:
        # The zero register is the number 0: forms with constants match.
        if register.number == 0:
            return 0
        known = next(
            (
                name
                for name, other in self.registers.items()
                if other == register and name.startswith("s") == is_boolean
            ),
            None,
        )
        name = known or f"{'s' if is_boolean else 'v'}{len(self.registers)}"
        self.registers[name] = register
        return name


def select_conditional(context: Context, instruction: Instruction) -> Reg:
    """Selection of a comparison, a select, or an intrinsic that the table has."""
    assert instruction.result is not None
    names = Names()
    return write_expression(
        context, instruction.result.type, instruction_expression(context, instruction, names), names
    )


def write_expression(context: Context, type: Type, expression: Expression, names: Names) -> Reg:
    """Selection of an expression by the select table, with the result as values of the type are held."""
    if isinstance(expression, str):
        return names.registers[expression]
    if isinstance(expression, int):
        return context.b.constant(expression)
    lines = _best_sequence(expression, context.isa)
    result = context.b.lines(lines, names.registers)
    # Whole registers, single bits and pointers are right as they are; others only where the value cannot have left its
    # range.
    if WIDTH[type] >= context.isa.xlen or type in (I1, PTR) or not _overflows(expression):
        return result
    last = context.b.ops[-1]
    # The last instruction becomes its word form, which extends the sign at no cost.
    if type == I32 and last.operands[0] == result and last.mnemonic in _WORDS:
        context.b.ops.pop()
        return context.b.make(_WORDS[last.mnemonic], *last.operands[1:])
    return context.canonical(type, result)


@cache
def _best_sequence(expression: Expression, isa: Isa) -> tuple[Line | ShortForward, ...]:
    return best_sequence(expression, isa) if isa.short_branches else select_expression(expression, isa).lines


def _overflows(expression: Expression) -> bool:
    """Whether the value may leave the range of its operands, and so must be extended anew."""
    if not isinstance(expression, Node):
        return False
    values = expression.operands[1:] if expression.operator == "?" else expression.operands
    return expression.operator in ("+", "-", "neg", "<<", "*") or any(map(_overflows, values))


def instruction_expression(context: Context, instruction: Instruction, names: Names) -> Expression:
    """Expression tree of an instruction, with those that are deferred to it."""
    operation, operands = instruction.operation, instruction.operands
    if operation in COMPARISONS:
        return comparison_expression(context, instruction, names)
    if operation == "call":
        a, b = operand_leaf(context, operands[0], names), operand_leaf(context, operands[-1], names)
        return MEANINGS[FUNCTIONS[instruction.callee]][1](a, b)
    parts = [_operand_expression(context, operand, names) for operand in operands]
    if operation == "select":
        return choose(parts[0], parts[1], parts[2])
    if operation == "xor" and parts[1] == -1:
        return unary("~", parts[0])
    return binary(_BINARY[operation], parts[0], parts[1])


def comparison_expression(context: Context, instruction: Instruction, names: Names) -> Expression:
    """Expression of a comparison. An i1 that is 1 is -1 as a signed number: signed comparisons exchange the
    operands."""
    a, b = (operand_leaf(context, operand, names) for operand in instruction.operands)
    operation = instruction.operation
    if instruction.operands[0].type == I1 and operation[0] == "s":
        return comparison(RELATIONS["u" + operation[1:]], b, a)
    return comparison(RELATIONS[operation], a, b)


def operand_leaf(context: Context, operand: Operand, names: Names) -> Expression:
    """Leaf of an expression: a name or a number."""
    if isinstance(operand, Constant):
        return operand.value
    return names.of(context.reg(operand), operand.type == I1)


def _operand_expression(context: Context, operand: Operand, names: Names) -> Expression:
    if isinstance(operand, Value) and operand.name in context.deferred and operand.name not in context.values:
        return instruction_expression(context, context.deferred[operand.name], names)
    return operand_leaf(context, operand, names)
