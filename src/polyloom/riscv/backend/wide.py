# SPDX-License-Identifier: Apache-2.0
"""Selection of 64-bit integers on RV32, in register pairs: multiword arithmetic (Hacker's Delight, chapters 2 and 8;
Knuth 1997, volume 2, section 4.3.1). What is not used of it is removed later.

Division, shifts by what is not constant, and conversions from and to floats have been legalized before (`legalize`).
"""

from __future__ import annotations

from typing import Final

from polyloom.ir.ssa import Constant, Instruction, Operand
from polyloom.ir.ssa_types import I1, I32
from polyloom.riscv.backend import integers
from polyloom.riscv.backend.code import ZERO, Reg
from polyloom.riscv.backend.context import Context
from polyloom.riscv.backend.selects import Names, write_expression
from polyloom.riscv.selects.expression import Expression, binary, choose, comparison

Pair = tuple[Reg, Reg]
_HALF: Final = 32


def arithmetic(context: Context, instruction: Instruction) -> Pair:
    """Selection of an operation of `ssa.ARITHMETIC` but division, on register pairs."""
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
            low, high = (_bitwise(context, operation, x, y) for x, y in pairs)
            return low, high
        case operation:
            # Others are legalized before.
            assert isinstance(b, Constant)
            return _shift_constant(context, operation, context.pair(a), b.value)


def _bitwise(context: Context, operation: str, x: Reg, y: Reg) -> Reg:
    """Bitwise operation on words; with the zero register no instruction is needed."""
    if ZERO in (x, y):
        return ZERO if operation == "and" else y if x == ZERO else x
    return context.b.make(operation, x, y)


def _sum(context: Context, *words: Reg) -> Reg:
    """Sum of words modulo 2**32, without those that are zero."""
    total, *rest = [word for word in words if word != ZERO] or [ZERO]
    for word in rest:
        total = context.b.make("add", total, word)
    return total


def _product(context: Context, mnemonic: str, x: Reg, y: Reg) -> Reg:
    return ZERO if ZERO in (x, y) else context.b.make(mnemonic, x, y)


def _add(context: Context, a: Pair, b: Pair) -> Pair:
    """Double-word addition: the carry is the comparison of the sum with an operand (RISC-V has no flags)."""
    # A low word of zero has no carry.
    if ZERO in (a[0], b[0]):
        return _sum(context, a[0], b[0]), _sum(context, a[1], b[1])
    low = context.b.make("add", a[0], b[0])
    # A sum of unsigned words has wrapped exactly if it is less than an operand.
    return low, _sum(context, a[1], b[1], context.b.make("sltu", low, b[0]))


def _subtract(context: Context, a: Pair, b: Pair) -> Pair:
    """Double-word subtraction: the borrow is the comparison of the low words."""
    high = a[1] if b[1] == ZERO else context.b.make("sub", a[1], b[1])
    # Nothing is borrowed by zero.
    if b[0] == ZERO:
        return a[0], high
    borrow = context.b.make("sltu", a[0], b[0])
    return context.b.make("sub", a[0], b[0]), context.b.make("sub", high, borrow)


def _multiply(context: Context, a: Pair, b: Pair) -> Pair:
    """Double-word product modulo 2**64, by mul and mulhu (schoolbook, Hacker's Delight, section 8-1)."""
    # Schoolbook multiplication modulo 2^64: the product of the high words does not count.
    crossed = _product(context, "mul", a[0], b[1]), _product(context, "mul", a[1], b[0])
    high = _sum(context, _product(context, "mulhu", a[0], b[0]), *crossed)
    return _product(context, "mul", a[0], b[0]), high


def _shift_constant(context: Context, operation: str, a: Pair, amount: int) -> Pair:
    """Double-word shift by a constant, which is less than 64 where the result is defined."""
    make, k = context.b.make, amount % (2 * _HALF)
    # What fills the high word: the sign for arithmetic shifts, else zeros.
    sign = make("srai", a[1], 31) if operation == "ashr" else ZERO
    if k == 0:
        return a
    if operation == "shl":
        if k >= _HALF:
            return ZERO, _shift_word(context, "slli", a[0], k - _HALF)
        high = _bitwise(
            context, "or", _shift_word(context, "slli", a[1], k), _shift_word(context, "srli", a[0], _HALF - k)
        )
        return _shift_word(context, "slli", a[0], k), high
    right = "srli" if operation == "lshr" else "srai"
    if k >= _HALF:
        return _shift_word(context, right, a[1], k - _HALF), sign
    low = _bitwise(context, "or", _shift_word(context, "srli", a[0], k), _shift_word(context, "slli", a[1], _HALF - k))
    return low, _shift_word(context, right, a[1], k)


def _shift_word(context: Context, mnemonic: str, a: Reg, amount: int) -> Reg:
    return context.b.make(mnemonic, a, amount) if amount and a != ZERO else a


def _select_word(context: Context, condition: Reg, a: Reg, b: Reg, is_boolean: bool = False) -> Reg:
    """Select of one word."""
    names = Names()
    expression = choose(names.of(condition, is_boolean), names.of(a, False), names.of(b, False))
    return write_expression(context, I32, expression, names)


def cast(context: Context, instruction: Instruction) -> tuple[Reg, ...]:
    """Selection of a conversion from an i64 or to one."""
    assert instruction.result is not None
    value, source, target = instruction.operands[0], instruction.operands[0].type, instruction.result.type
    match instruction.operation:
        case "trunc":
            return (context.canonical(target, context.pair(value)[0]),)
        case "zext":
            return context.unsigned(source, context.reg(value)), ZERO
        case "sext":
            low = integers.sign_extend(context, value)
            return low, context.b.make("srai", low, 31)
        case "ptrtoint":
            return context.reg(value), ZERO
        case _:
            return (context.pair(value)[0],)


def compare(context: Context, instruction: Instruction) -> Reg:
    """Comparison of register pairs, through the high words where they differ."""
    operation = instruction.operation
    a, b = instruction.operands
    if operation in ("eq", "ne"):
        # Equality is one test of the bits in which both words differ: no comparison of each.
        differing = _difference_bits(context, a, b)
        return context.b.make("seqz" if operation == "eq" else "snez", differing)
    return write_expression(context, I1, *_ordering_expression(context, operation, a, b))


def _difference_bits(context: Context, a: Operand, b: Operand) -> Reg:
    """Bits in which two pairs differ: 0 exactly where they are equal."""
    (low, high), (other_low, other_high) = context.pair(a), context.pair(b)
    words = [x if y == ZERO else context.b.make("xor", x, y) for x, y in ((low, other_low), (high, other_high))]
    return context.b.make("or", *words)


def _ordering_expression(context: Context, operation: str, a: Operand, b: Operand) -> tuple[Expression, Names]:
    """Order of two pairs as an expression of the select table: that of the high words where they differ, else the
    unsigned one of the low words.
    """
    names = Names()
    (low, high), (other_low, other_high) = context.pair(a), context.pair(b)
    x, y = names.of(high, False), names.of(other_high, False)
    relation = {"lt": "<", "le": "<=", "gt": ">", "ge": ">="}[operation[1:]]
    strict, unsigned = relation[0], "u" if operation[0] == "u" else ""
    below = comparison(f"{relation}u", names.of(low, False), names.of(other_low, False))
    differing = x if y == 0 else binary("^", x, y)
    return choose(differing, comparison(strict + unsigned, x, y), below), names


def select(context: Context, instruction: Instruction) -> Pair:
    """Select of register pairs, word by word, the condition once."""
    condition, a, b = instruction.operands
    decided = context.reg(condition)
    low, high = (
        _select_word(context, decided, x, y, True) for x, y in zip(context.pair(a), context.pair(b), strict=True)
    )
    return low, high
