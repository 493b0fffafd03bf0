# SPDX-License-Identifier: Apache-2.0
"""The named operations of a piecewise linear algorithm: one table row each.

Semantics: two's complement, wrapping; `shr` is arithmetic and shift amounts count modulo the
width; comparisons give i32 0 or 1; f32 is IEEE single, `madd` rounds once. Integer `div` and `rem` truncate as C's /
and %, `floordiv` and `mod` floor as Python's // and %; all four fault on a zero divisor.
min(a, b) and max(a, b) are NaN-aware and ties return the first operand: b if a is a NaN, else b if b < a (max: b > a),
else a. All operands of an operation have one element type, except the first operand of `select`, which is i32.

Elements of the types `STORED` are moved, chosen and converted, as C's promotions have it; arithmetic is on the others.
`to_f32` and `to_f16` round to nearest, ties to even; `to_i32` of an f32 does so too, then saturates, and a NaN gives
the largest number (RISC-V's fcvt). `sat8` and `satu8` saturate an i32.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

ElementType = Literal["i8", "i16", "i32", "f32", "u8", "f16"]
ELEMENT_TYPES: tuple[ElementType, ...] = ("i8", "i16", "i32", "f32")
STORED: tuple[ElementType, ...] = ("u8", "f16")
ALL_TYPES: tuple[ElementType, ...] = (*ELEMENT_TYPES, *STORED)
INTEGERS: tuple[ElementType, ...] = ("i8", "i16", "i32")


@dataclass(frozen=True, slots=True)
class Operation:
    """`name` in text and machine files; `symbol` is the spelling in the equation language, if any. `stored` ones work
    on the types `STORED`, too; `gives` is the result's type where that is not the operands'."""

    name: str
    arity: int
    types: tuple[ElementType, ...]
    symbol: str | None = None
    compares: bool = False
    stored: bool = False
    gives: ElementType | None = None

    def works_on(self, dtype: ElementType) -> bool:
        """Whether operands (the last one, of `select`) may have the type."""
        return dtype in self.types or (self.stored and dtype in STORED)

    def result(self, operand_type: ElementType) -> ElementType:
        """The element type of the result when the (last) operand has `operand_type`."""
        return "i32" if self.compares else self.gives or operand_type


# The position in this table is the operation's number in machine words: append only.
OPERATIONS: tuple[Operation, ...] = (
    Operation("move", 1, ELEMENT_TYPES, stored=True),
    Operation("add", 2, ELEMENT_TYPES, "+"),
    Operation("sub", 2, ELEMENT_TYPES, "-"),
    Operation("mul", 2, ELEMENT_TYPES, "*"),
    Operation("div", 2, ELEMENT_TYPES, "/"),
    Operation("min", 2, ELEMENT_TYPES),
    Operation("max", 2, ELEMENT_TYPES),
    Operation("and", 2, INTEGERS, "and"),
    Operation("or", 2, INTEGERS, "or"),
    Operation("xor", 2, INTEGERS, "xor"),
    Operation("shl", 2, INTEGERS, "shl"),
    Operation("shr", 2, INTEGERS, "shr"),
    Operation("eq", 2, ELEMENT_TYPES, "==", compares=True),
    Operation("ne", 2, ELEMENT_TYPES, "!=", compares=True),
    Operation("lt", 2, ELEMENT_TYPES, "<", compares=True),
    Operation("le", 2, ELEMENT_TYPES, "<=", compares=True),
    Operation("gt", 2, ELEMENT_TYPES, ">", compares=True),
    Operation("ge", 2, ELEMENT_TYPES, ">=", compares=True),
    Operation("select", 3, ELEMENT_TYPES, stored=True),
    Operation("neg", 1, ELEMENT_TYPES, "-"),
    Operation("abs", 1, ELEMENT_TYPES),
    Operation("madd", 3, ELEMENT_TYPES),
    Operation("sqrt", 1, ("f32",)),
    Operation("rem", 2, INTEGERS),
    Operation("floordiv", 2, INTEGERS),
    Operation("mod", 2, INTEGERS),
)
# A target lists those that it has; words of the array have no numbers for them.
CONVERSIONS: tuple[Operation, ...] = (
    Operation("to_i32", 1, ("i8", "i16", "u8", "f32"), gives="i32"),
    Operation("to_f32", 1, ("i32", "f16"), gives="f32"),
    Operation("to_f16", 1, ("f32",), gives="f16"),
    Operation("sat8", 1, ("i32",), gives="i8"),
    Operation("satu8", 1, ("i32",), gives="u8"),
)
BY_NAME: dict[str, Operation] = {o.name: o for o in (*OPERATIONS, *CONVERSIONS)}
NUMBER: dict[str, int] = {o.name: n for n, o in enumerate(OPERATIONS)}
DIVISIONS = ("div", "rem", "floordiv", "mod")


def divides(operation: str, dtype: ElementType) -> bool:
    """Whether a second operand of zero is a fault."""
    return operation in DIVISIONS and dtype in INTEGERS
