# SPDX-License-Identifier: Apache-2.0
"""Words: nodes of `unsigned int` arithmetic, and pairs of them, by which integers of 64 bits are computed (Hacker's
Delight, sections 2-16, 2-17, 8-2)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from polyloom.frontend.loops import make
from polyloom.frontend.loops.tree import Node

WORD: Final = "unsigned int"
WIDE: Final = ("long", "unsigned long", "long long", "unsigned long long")
_LOW: Final = 0xFFFF


@dataclass(frozen=True, slots=True)
class Pair:
    """Pair: the low and the high word of 64 bits, in two's complement."""

    low: Node
    high: Node


Bind = Callable[[Node], Node]
"""Gives an expression a name, where it is used several times."""


def word(value: int, at: Node) -> Node:
    """A constant word."""
    return replace(make.number(value % (1 << 32), at), ctype=WORD)


def cast(value: Node, ctype: str) -> Node:
    """A conversion of integers."""
    return value if value.ctype == ctype else Node("convert", value.span, ctype, (value,), "IntegralCast")


def op(opcode: str, a: Node, b: Node | int, ctype: str = WORD) -> Node:
    """An operation on words, or on `int`s."""
    other = b if isinstance(b, Node) else replace(word(b, a), ctype=ctype)
    return make.binary(opcode, cast(a, ctype), cast(other, ctype), ctype, a)


def comparison(opcode: str, a: Node, b: Node, of: str = WORD) -> Node:
    """A comparison: an `int`."""
    return make.binary(opcode, cast(a, of), cast(b, of), "int", a)


def conditional_expression(test: Node, a: Node, b: Node) -> Node:
    """A conditional expression."""
    return Node("choose", test.span, WORD, (test, a, b))


def sign(high: Node) -> Node:
    """All bits as the sign of a word."""
    return cast(op(">>", high, 31, "int"), WORD)


def literal(value: int, at: Node) -> Pair:
    return Pair(word(value, at), word(value >> 32, at))


def add_pairs(a: Pair, b: Pair, bind: Bind) -> Pair:
    """Sum with a carry, which a sum less than an addend shows (section 2-16)."""
    low, first = bind(op("+", a.low, b.low)), a.low
    carry = cast(comparison("<", low, first), WORD)
    return Pair(low, op("+", op("+", a.high, b.high), carry))


def subtract_pairs(a: Pair, b: Pair, bind: Bind) -> Pair:
    """Difference with a borrow."""
    borrow = cast(comparison("<", a.low, b.low), WORD)
    return Pair(bind(op("-", a.low, b.low)), op("-", op("-", a.high, b.high), borrow))


def multiply_pairs(a: Pair, b: Pair, bind: Bind) -> Pair:
    """Low 64 bits of a product: that of the low words, and those of a low and a high one."""
    crossed = op("+", op("*", a.high, b.low), op("*", a.low, b.high))
    return Pair(op("*", a.low, b.low), op("+", high_product(a.low, b.low, bind), crossed))


def multiplied_signed(a: Node, b: Node, bind: Bind) -> Pair:
    """Product of two `int`s: that of the words, less each where the other is negative (section 8-3)."""
    high = op("-", op("-", high_product(a, b, bind), op("&", sign(a), b)), op("&", sign(b), a))
    return Pair(op("*", a, b), high)


def high_product(a: Node, b: Node, bind: Bind) -> Node:
    """High word of a product of words, by halves (section 8-2, figure 8-2)."""
    a0, a1 = bind(op("&", a, _LOW)), bind(op(">>", a, 16))
    b0, b1 = bind(op("&", b, _LOW)), bind(op(">>", b, 16))
    middle = bind(op("+", op("*", a1, b0), op(">>", op("*", a0, b0), 16)))
    lower = op("+", op("*", a0, b1), op("&", middle, _LOW))
    return op("+", op("+", op("*", a1, b1), op(">>", middle, 16)), op(">>", lower, 16))


def shift_by_constant(opcode: str, a: Pair, by: int, is_signed: bool) -> Pair:
    """Shift by a constant number of bits, 0 to 63 (section 2-17)."""
    fill = sign(a.high) if is_signed else word(0, a.high)
    right = right_shift_operation(is_signed)
    if by == 0:
        return a
    if opcode == "<<":
        if by >= 32:
            return Pair(word(0, a.low), op("<<", a.low, by - 32) if by > 32 else a.low)
        return Pair(op("<<", a.low, by), op("|", op("<<", a.high, by), op(">>", a.low, 32 - by)))
    if by >= 32:
        return Pair(right(a.high, word(by - 32, a.high)) if by > 32 else a.high, fill)
    low = op("|", op(">>", a.low, by), op("<<", a.high, 32 - by))
    return Pair(low, right(a.high, word(by, a.high)))


def right_shift_operation(is_signed: bool) -> Callable[[Node, Node], Node]:
    """Shift of the high word to the right, with the sign or without."""
    return lambda high, by: cast(op(">>", high, by, "int" if is_signed else WORD), WORD)


def shift_by_data(opcode: str, a: Pair, by: Node, is_signed: bool, bind: Bind) -> Pair:
    """Shift by a number of bits that is data: by its low five bits, and by a word where the next one is set."""
    small, big = bind(op("&", by, 31)), bind(cast(op("&", by, 32), "int"))
    rest = op("-", word(31, by), small)
    if opcode == "<<":
        low = bind(op("<<", a.low, small))
        high = op("|", op("<<", a.high, small), op(">>", op(">>", a.low, 1), rest))
        return Pair(conditional_expression(big, word(0, by), low), conditional_expression(big, low, high))
    high = bind(right_shift_operation(is_signed)(a.high, small))
    low = op("|", op(">>", a.low, small), op("<<", op("<<", a.high, 1), rest))
    return Pair(
        conditional_expression(big, high, low),
        conditional_expression(big, sign(a.high) if is_signed else word(0, by), high),
    )


def order_pairs(opcode: str, a: Pair, b: Pair, is_signed: bool) -> Node:
    """Comparison of pairs, as an `int` of 0 or 1."""
    if opcode in ("==", "!="):
        return comparison(opcode, op("|", op("^", a.low, b.low), op("^", a.high, b.high)), word(0, a.low))
    if opcode in (">", ">="):
        return order_pairs(opcode.translate(_MIRRORED), b, a, is_signed)
    # The low words decide where the high ones are equal.
    less = comparison("<", a.high, b.high, "int" if is_signed else WORD)
    equal = op("&", comparison("==", a.high, b.high), comparison(opcode, a.low, b.low), "int")
    return op("|", less, equal, "int")


_MIRRORED: Final = str.maketrans("<>", "><")
