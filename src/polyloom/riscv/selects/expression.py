# SPDX-License-Identifier: Apache-2.0
"""Expressions over integer registers, and the canonical form in which the select table knows them.

Names are XLEN wide; `s`, `s1`, ... hold 0 or 1. `<u` and `>>u` are unsigned. Canonically the only comparisons are `<`
and `<u`, the others being these with the operands or the arms exchanged; equality is a zero of `^`; constants stand on
the right; and min, max, abs and their like are the selects that they mean (Hacker's Delight, chapter 2, for abs, doz,
max and min).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

RELATIONS: Final = {
    "eq": "==",
    "ne": "!=",
    "slt": "<",
    "sle": "<=",
    "sgt": ">",
    "sge": ">=",
    "ult": "<u",
    "ule": "<=u",
    "ugt": ">u",
    "uge": ">=u",
}
"""How `comparison` calls the comparisons of integers in SSA form."""
COMMUTATIVE: Final = ("+", "*", "&", "|", "^")
_BOOLEAN: Final = re.compile(r"s\d*")


@dataclass(frozen=True, slots=True)
class Node:
    """Expression node: an operator of C (`?` is the conditional one, `neg` the unary minus) and its operands."""

    operator: str
    operands: tuple[Expression, ...]


Expression: TypeAlias = Node | str | int


def choose(condition: Expression, a: Expression, b: Expression) -> Expression:
    """Canonical select `condition ? a : b`."""
    match condition:
        case int():
            return a if condition else b
        case Node("?", (inner, 1, 0)):
            return choose(inner, a, b)
        case Node("?", (inner, 0, 1)):
            return choose(inner, b, a)
        case _:
            # A boolean is its own select of 1 and 0.
            return condition if (a, b) == (1, 0) and is_boolean(condition) else Node("?", (condition, a, b))


def is_boolean(expression: Expression) -> bool:
    """Whether the value is always 0 or 1, by the expression's form."""
    match expression:
        case int():
            return expression in (0, 1)
        case str():
            return _BOOLEAN.fullmatch(expression) is not None
        case Node("<" | "<u"):
            return True
        case Node("?", (_, a, b)):
            return is_boolean(a) and is_boolean(b)
        case Node("&" | "|" | "^", (a, b)):
            return is_boolean(a) and is_boolean(b)
        case _:
            return False


def expression_names(expression: Expression) -> tuple[str, ...]:
    """The names in it, in the order of their first use."""
    if isinstance(expression, Node):
        return tuple(dict.fromkeys(name for operand in expression.operands for name in expression_names(operand)))
    return (expression,) if isinstance(expression, str) else ()


def evaluate(expression: Expression, values: Mapping[str, int], xlen: int) -> int:
    """Semantics: the value modulo 2**xlen, for unsigned values of the names. Shift amounts count modulo XLEN, as in the
    hardware.
    """
    if isinstance(expression, str):
        return values[expression]
    if isinstance(expression, int):
        return expression % (1 << xlen)
    if expression.operator == "?":
        condition, a, b = expression.operands
        return evaluate(a if evaluate(condition, values, xlen) else b, values, xlen)
    operands = [evaluate(operand, values, xlen) for operand in expression.operands]
    return _MEANING[expression.operator](xlen, operands[0], operands[-1]) % (1 << xlen)


def to_signed(value: int, xlen: int) -> int:
    """The two's complement reading of `value`."""
    return value - (1 << xlen) if value >> xlen - 1 else value


_MEANING: Final[Mapping[str, Callable[[int, int, int], int]]] = {
    "+": lambda x, a, b: a + b,
    "-": lambda x, a, b: a - b,
    "*": lambda x, a, b: a * b,
    "&": lambda x, a, b: a & b,
    "|": lambda x, a, b: a | b,
    "^": lambda x, a, b: a ^ b,
    "<<": lambda x, a, b: a << b % x,
    ">>": lambda x, a, b: to_signed(a, x) >> b % x,
    ">>u": lambda x, a, b: a >> b % x,
    "<": lambda x, a, b: to_signed(a, x) < to_signed(b, x),
    "<u": lambda x, a, b: a < b,
    "neg": lambda x, a, b: -a,
    "~": lambda x, a, b: ~a,
}


def binary(operator: str, a: Expression, b: Expression) -> Expression:
    """Canonical binary operation, which compares nothing."""
    # There is no `subi`: a difference with a constant is a sum.
    if operator == "-" and isinstance(b, int):
        return binary("+", a, -b)
    if operator == "-" and a == 0:
        return unary("-", b)
    if operator in COMMUTATIVE and isinstance(a, int):
        a, b = b, a
    return Node(operator, (a, b))


def unary(operator: str, a: Expression) -> Expression:
    """`operator a`, for one of - ~ !."""
    if isinstance(a, int):
        return {"-": -a, "~": ~a, "!": int(a == 0)}[operator]
    return choose(a, 0, 1) if operator == "!" else Node("neg" if operator == "-" else operator, (a,))


def comparison(operator: str, a: Expression, b: Expression) -> Expression:
    """Canonical comparison, by `<`, `<u` or the zero of a difference."""
    u = "u" if operator.endswith("u") else ""
    match operator.removesuffix("u"):
        case "==":
            return choose(a if b == 0 else binary("^", a, b), 0, 1)
        case "!=":
            return choose(a if b == 0 else binary("^", a, b), 1, 0)
        case ">":
            return _ordering_node(u, b, a)
        case "<=":
            return choose(_ordering_node(u, b, a), 0, 1)
        case ">=":
            return choose(_ordering_node(u, a, b), 0, 1)
        case _:
            return _ordering_node(u, a, b)


def _ordering_node(u: str, a: Expression, b: Expression) -> Expression:
    """Canonical a < b. For a constant k, k < b is not (b < k + 1), which is one instruction with an immediate, where k
    + 1 cannot overflow.
    """
    if isinstance(a, int) and a != 0 and -2048 <= a < 2047 and (a != -1 or not u):
        return choose(Node(f"<{u}", (b, a + 1)), 0, 1)
    return Node(f"<{u}", (a, b))


def _minimum_function(u: str, swap: bool) -> Callable[[Expression, Expression], Expression]:
    return lambda a, b: choose(_ordering_node(u, a, b), *((b, a) if swap else (a, b)))


FUNCTIONS: Final[Mapping[str, tuple[int, Callable[[Expression, Expression], Expression]]]] = {
    "min": (2, _minimum_function("", False)),
    "max": (2, _minimum_function("", True)),
    "minu": (2, _minimum_function("u", False)),
    "maxu": (2, _minimum_function("u", True)),
    "abs": (1, lambda a, _: choose(_ordering_node("", a, 0), unary("-", a), a)),
    "absdiff": (2, lambda a, b: choose(_ordering_node("", a, b), binary("-", b, a), binary("-", a, b))),
    "absdiffu": (2, lambda a, b: choose(_ordering_node("u", a, b), binary("-", b, a), binary("-", a, b))),
    "satsubu": (2, lambda a, b: choose(_ordering_node("u", a, b), 0, binary("-", a, b))),
    "sgn": (1, lambda a, _: binary("-", _ordering_node("", 0, a), _ordering_node("", a, 0))),
}
"""By name: the number of arguments, and the expression that the function of the first and the last of them means."""
