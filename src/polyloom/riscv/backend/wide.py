# SPDX-License-Identifier: Apache-2.0
"""Selection of 64-bit integers on RV32, in two registers: schoolbook arithmetic. What is not used of it is removed
later.

Division, and conversions from and to floats, have been legalized before (`legalize`).
"""

from __future__ import annotations

from typing import Final

from polyloom.ir.ssa import Constant, Instruction, Operand
from polyloom.ir.ssa_types import I1, I32
from polyloom.riscv.backend import integers
from polyloom.riscv.backend.code import ZERO, Reg
from polyloom.riscv.backend.context import Context
from polyloom.riscv.backend.selects import Names, write
from polyloom.riscv.expression import Expression, binary, choose, comparison

Pair = tuple[Reg, Reg]
_HALF: Final = 32


def arithmetic(context: Context, instruction: Instruction) -> Pair:
    """An operation of `ssa.ARITHMETIC` but division."""
    a, b = instruction.operands
    match instruction.operation:
        case "add":
            return _add(context, context.pair(a), context.pair(b))
        case "sub":
            return _subtract(context, context.pair(a), context.pair(b))
        case "mul":
            return _multiply(context, context.pair(a), context.pair(b))
        case "and" | "or" | "xor" as operation:
            pairs = zip(context.pair(a), context.pair(b), strict=True)
            low, high = (context.b.make(operation, x, y) for x, y in pairs)
            return low, high
        case operation if isinstance(b, Constant):
            return _shift_by(context, operation, context.pair(a), b.value)
        case operation:
            return _shift(context, operation, context.pair(a), context.pair(b)[0])


def _add(context: Context, a: Pair, b: Pair) -> Pair:
    low = context.b.make("add", a[0], b[0])
    # A sum of unsigned words has wrapped exactly if it is less than an operand.
    carry = context.b.make("sltu", low, a[0] if b[0] == ZERO else b[0])
    return low, context.b.make("add", context.b.make("add", a[1], b[1]), carry)


def _subtract(context: Context, a: Pair, b: Pair) -> Pair:
    borrow = context.b.make("sltu", a[0], b[0])
    return context.b.make("sub", a[0], b[0]), context.b.make("sub", context.b.make("sub", a[1], b[1]), borrow)


def _multiply(context: Context, a: Pair, b: Pair) -> Pair:
    # Schoolbook multiplication modulo 2^64: the product of the high words does not count.
    crossed = context.b.make("add", context.b.make("mul", a[0], b[1]), context.b.make("mul", a[1], b[0]))
    return context.b.make("mul", a[0], b[0]), context.b.make("add", context.b.make("mulhu", a[0], b[0]), crossed)


def _shift_by(context: Context, operation: str, a: Pair, amount: int) -> Pair:
    """By a constant, which is less than 64 where the result is defined."""
    make, k = context.b.make, amount % (2 * _HALF)
    sign = make("srai", a[1], 31) if operation == "ashr" else ZERO
    if k == 0:
        return a
    if operation == "shl":
        if k >= _HALF:
            return ZERO, _by(context, "slli", a[0], k - _HALF)
        return make("slli", a[0], k), make("or", make("slli", a[1], k), make("srli", a[0], _HALF - k))
    right = "srli" if operation == "lshr" else "srai"
    if k >= _HALF:
        return _by(context, right, a[1], k - _HALF), sign
    return make("or", make("srli", a[0], k), make("slli", a[1], _HALF - k)), make(right, a[1], k)


def _by(context: Context, mnemonic: str, a: Reg, amount: int) -> Reg:
    return context.b.make(mnemonic, a, amount) if amount else a


def _shift(context: Context, operation: str, a: Pair, amount: Reg) -> Pair:
    """Both words for an amount below 32, with the carried bits shifted by one and by 31 - amount, which is never 32;
    and for one from 32 on."""
    make = context.b.make
    far = make("andi", amount, _HALF)
    rest = make("xori", amount, -1)  # shifts read its five low bits: 31 - amount
    if operation == "shl":
        low = make("sll", a[0], amount)
        high = make("or", make("sll", a[1], amount), make("srl", make("srli", a[0], 1), rest))
        return _choose(context, far, ZERO, low), _choose(context, far, low, high)
    right = "srl" if operation == "lshr" else "sra"
    high = make(right, a[1], amount)
    # a << (32 - n) as (a << 1) << (31 - n): a shift by 32, for n = 0, would be a shift by 0 on the hardware.
    low = make("or", make("srl", a[0], amount), make("sll", make("slli", a[1], 1), rest))
    sign = make("srai", a[1], 31) if operation == "ashr" else ZERO
    return _choose(context, far, high, low), _choose(context, far, sign, high)


def _choose(context: Context, condition: Reg, a: Reg, b: Reg, is_boolean: bool = False) -> Reg:
    names = Names()
    expression = choose(names.of(condition, is_boolean), names.of(a, False), names.of(b, False))
    return write(context, I32, expression, names)


def cast(context: Context, instruction: Instruction) -> tuple[Reg, ...]:
    """From an i64 or to one."""
    assert instruction.result is not None
    value, source, target = instruction.operands[0], instruction.operands[0].type, instruction.result.type
    match instruction.operation:
        case "trunc":
            return (context.canonical(target, context.pair(value)[0]),)
        case "zext":
            return context.unsigned(source, context.reg(value)), ZERO
        case "sext":
            low = integers.sign_extended(context, value)
            return low, context.b.make("srai", low, 31)
        case "ptrtoint":
            return context.reg(value), ZERO
        case _:
            return (context.pair(value)[0],)


def compare(context: Context, instruction: Instruction) -> Reg:
    """A comparison, through the high words where they differ."""
    operation = instruction.operation
    a, b = instruction.operands
    if operation in ("eq", "ne"):
        differing = _differing(context, a, b)
        return context.b.make("seqz" if operation == "eq" else "snez", differing)
    return write(context, I1, *_less(context, operation, a, b))


def _differing(context: Context, a: Operand, b: Operand) -> Reg:
    """0 exactly where they are equal."""
    (low, high), (other_low, other_high) = context.pair(a), context.pair(b)
    words = [x if y == ZERO else context.b.make("xor", x, y) for x, y in ((low, other_low), (high, other_high))]
    return context.b.make("or", *words)


def _less(context: Context, operation: str, a: Operand, b: Operand) -> tuple[Expression, Names]:
    names = Names()
    (low, high), (other_low, other_high) = context.pair(a), context.pair(b)
    x, y = names.of(high, False), names.of(other_high, False)
    relation = {"lt": "<", "le": "<=", "gt": ">", "ge": ">="}[operation[1:]]
    strict, unsigned = relation[0], "u" if operation[0] == "u" else ""
    below = comparison(f"{relation}u", names.of(low, False), names.of(other_low, False))
    differing = x if y == 0 else binary("^", x, y)
    return choose(differing, comparison(strict + unsigned, x, y), below), names


def select(context: Context, instruction: Instruction) -> Pair:
    """Word by word, the condition once."""
    condition, a, b = instruction.operands
    decided = context.reg(condition)
    low, high = (_choose(context, decided, x, y, True) for x, y in zip(context.pair(a), context.pair(b), strict=True))
    return low, high
