# SPDX-License-Identifier: Apache-2.0
"""Terms of 32 bits, and integers of 64 bits as pairs of them (expansion of integers: LLVM's type legalization; Warren,
Hacker's Delight, 2nd edition, sections 2-16, 2-17 and 8-2).

A term is a tuple: an operation and its operands; equal terms are equal tuples. Comparisons are 0 or 1. `tests` prove
each rule of pairs with an SMT solver.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from polyloom.twos_complement import sign_extend

Term = tuple[Any, ...]
"""`("const", n)`, `("var", identity)`, or an operation: add, sub, mul, and, or, xor, shl, ashr, lshr, eq, slt, ult,
ite."""
_MASK: Final = (1 << 32) - 1


def const(value: int) -> Term:
    """Constant, with the sign of an `int`."""
    return ("const", sign_extend(value, 32))


ZERO: Final = const(0)
_FOLDS: Final[dict[str, Callable[[int, int], int]]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
    "shl": lambda a, b: a << (b & 31),
    "ashr": lambda a, b: a >> (b & 31),
    "lshr": lambda a, b: (a & _MASK) >> (b & 31),
    "eq": lambda a, b: int(a == b),
    "slt": lambda a, b: int(a < b),
    "ult": lambda a, b: int((a & _MASK) < (b & _MASK)),
}
_NEUTRAL: Final = {"add": 0, "sub": 0, "or": 0, "xor": 0, "shl": 0, "ashr": 0, "lshr": 0, "mul": 1, "and": -1}
_COMMUTES: Final = ("add", "or", "xor", "mul", "and")
_ABSORBS: Final = {"mul": 0, "and": 0, "or": -1}


def op(name: str, a: Term, b: Term) -> Term:
    """Operation on terms, folded where operands are constant or neutral."""
    if a[0] == "const" and b[0] == "const":
        return const(_FOLDS[name](a[1], b[1]))
    if name in _COMMUTES and a[0] == "const":
        a, b = b, a
    if b[0] == "const" and b[1] == _NEUTRAL.get(name):
        return a
    if b[0] == "const" and b[1] == _ABSORBS.get(name):
        return b
    if name == "ult" and b == ZERO:
        return ZERO
    # The sign of a sign is the sign.
    if name == "ashr" and a[0] == "ashr" and a[2] == const(31):
        return a
    return (name, a, b)


def ite(test: Term, a: Term, b: Term) -> Term:
    """`a` where the test is not 0, else `b`."""
    if test[0] == "const":
        return a if test[1] else b
    return a if a == b else ("ite", test, a, b)


def negation(test: Term) -> Term:
    return op("eq", test, ZERO)


def sign(a: Term) -> Term:
    """-1 below 0, else 0."""
    return op("ashr", a, const(31))


@dataclass(frozen=True, slots=True)
class Pair:
    """Integer of 64 bits: its low and its high half."""

    low: Term
    high: Term

    @property
    def is_narrow(self) -> bool:
        """Whether it is an `int`, extended by its sign."""
        return self.high == sign(self.low)


def extend(a: Term, signed: bool) -> Pair:
    return Pair(a, sign(a) if signed else ZERO)


def wide_const(value: int) -> Pair:
    return Pair(const(value), const(value >> 32))


def add(a: Pair, b: Pair) -> Pair:
    low = op("add", a.low, b.low)
    return Pair(low, op("add", op("add", a.high, b.high), op("ult", low, b.low)))


def sub(a: Pair, b: Pair) -> Pair:
    return Pair(op("sub", a.low, b.low), op("sub", op("sub", a.high, b.high), op("ult", a.low, b.low)))


def mul(a: Pair, b: Pair) -> Pair:
    """Product modulo 2^64; of two `int`s it has one high product, in general three products more."""
    low = op("mul", a.low, b.low)
    if a.is_narrow and b.is_narrow:
        return Pair(low, multiply_high(a.low, b.low))
    cross = op("add", op("mul", a.low, b.high), op("mul", a.high, b.low))
    return Pair(low, op("add", multiply_high_unsigned(a.low, b.low), cross))


def multiply_high(a: Term, b: Term) -> Term:
    """High half of the product of two `int`s, by parts of 16 bits (Hacker's Delight, figure 8-2)."""
    low, half = const(0xFFFF), const(16)
    u0, u1, v0, v1 = op("and", a, low), op("ashr", a, half), op("and", b, low), op("ashr", b, half)
    t = op("add", op("mul", u1, v0), op("lshr", op("mul", u0, v0), half))
    w = op("add", op("mul", u0, v1), op("and", t, low))
    return op("add", op("add", op("mul", u1, v1), op("ashr", t, half)), op("ashr", w, half))


def multiply_high_unsigned(a: Term, b: Term) -> Term:
    """The same without signs (Hacker's Delight, section 8-3)."""
    high = op("add", multiply_high(a, b), op("and", sign(a), b))
    return op("add", high, op("and", sign(b), a))


def bitwise(name: str, a: Pair, b: Pair) -> Pair:
    return Pair(op(name, a.low, b.low), op(name, a.high, b.high))


def shl(a: Pair, by: int) -> Pair:
    if by >= 32:
        return Pair(ZERO, op("shl", a.low, const(by - 32)))
    if not by:
        return a
    carried = op("lshr", a.low, const(32 - by))
    return Pair(op("shl", a.low, const(by)), op("or", op("shl", a.high, const(by)), carried))


def shr(a: Pair, by: int, signed: bool) -> Pair:
    name, rest = ("ashr", sign(a.high)) if signed else ("lshr", ZERO)
    if by >= 32:
        return Pair(op(name, a.high, const(by - 32)), rest)
    if not by:
        return a
    carried = op("shl", a.high, const(32 - by))
    return Pair(op("or", op("lshr", a.low, const(by)), carried), op(name, a.high, const(by)))


def divide_by_power(a: Pair, by: int) -> Pair:
    """Quotient by 2^by, towards zero (Hacker's Delight, section 10-1)."""
    if not by:
        return a
    bias = shr(shr(a, 63, signed=True), 64 - by, signed=False)
    return shr(add(a, bias), by, signed=True)


def ordering(a: Pair, b: Pair, signed: bool) -> Term:
    high = op("slt" if signed else "ult", a.high, b.high)
    return op("or", high, op("and", op("eq", a.high, b.high), op("ult", a.low, b.low)))


def equality(a: Pair, b: Pair) -> Term:
    return op("eq", op("or", op("xor", a.low, b.low), op("xor", a.high, b.high)), ZERO)


def wide_ite(test: Term, a: Pair, b: Pair) -> Pair:
    return Pair(ite(test, a.low, b.low), ite(test, a.high, b.high))
