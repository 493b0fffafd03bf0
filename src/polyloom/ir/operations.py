# SPDX-License-Identifier: Apache-2.0
"""Operation table of piecewise linear algorithms: one row per named operation.

Semantics: two's complement, wrapping; `shr` is arithmetic where the operand has a sign, and shift amounts count modulo
the width; comparisons give i32 0 or 1; f32 and f64 are IEEE 754 single and double, `madd` rounds once. Integer `div`
and `rem` truncate as C's / and % (C17, section 6.5.5), `floordiv` and `mod` floor as Python's // and % (Python language
reference, section 6.7); all four fault on a zero divisor. Division, shifts to the right, comparisons, min and max are
those of the operand's type: u8, u16 and u32 have no sign. min(a, b) and max(a, b) are NaN-aware and ties return the
first operand: b if a is a NaN, else b if b < a (max: b > a), else a. All operands of an operation have one element
type, except the first operand of `select`, which is i32. A bool is 0 or 1, in one byte of memory.

Conversions are C's (C17, section 6.3.1). Integers wrap to narrower ones. Floats go to integers toward zero and
saturate: beyond the range of the result's type, the result is its smallest or largest number; of a NaN it is 0. C
leaves that undefined and NumPy to the processor; this is total, the same for all widths, and what the LLVM Language
Reference Manual calls `llvm.fptosi.sat`. `to_bool` is "not equal to zero". What is converted to a float is rounded to
nearest, ties to even. `round_i32` of a float rounds so, too, and saturates; of a NaN it gives the largest number.
`sat8` and `satu8` saturate an i32. `bits_i32` and `bits_f32` keep the 32 bits.

Elements of the types `STORED` are moved, chosen and converted; arithmetic is on the others.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

ElementType = Literal["i8", "i16", "i32", "f32", "u8", "u16", "u32", "bool", "f64", "f16"]
# The position in this table is the type's number in machine words: append only.
ELEMENT_TYPES: tuple[ElementType, ...] = ("i8", "i16", "i32", "f32", "u8", "u16", "u32", "bool", "f64")
# Types without a number in machine words: no unit computes in them.
STORED: tuple[ElementType, ...] = ("f16",)
ALL_TYPES: tuple[ElementType, ...] = (*ELEMENT_TYPES, *STORED)
SIGNED: tuple[ElementType, ...] = ("i8", "i16", "i32")
UNSIGNED: tuple[ElementType, ...] = ("u8", "u16", "u32")
INTEGERS: tuple[ElementType, ...] = (*SIGNED, *UNSIGNED)
FLOATS: tuple[ElementType, ...] = ("f32", "f64")
# A bool has no arithmetic: front ends widen it first.
_NUMBERS: tuple[ElementType, ...] = tuple(t for t in ELEMENT_TYPES if t != "bool")
_BITWISE: tuple[ElementType, ...] = tuple(t for t in ELEMENT_TYPES if t not in FLOATS)


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

    def accepts_type(self, dtype: ElementType) -> bool:
        """Whether operands (the last one, of `select`) may have the type."""
        return dtype in self.types or (self.stored and dtype in STORED)

    def result(self, operand_type: ElementType) -> ElementType:
        """The element type of the result when the (last) operand has `operand_type`."""
        return "i32" if self.compares else self.gives or operand_type


def _conversion(dtype: ElementType) -> Operation:
    """The conversion to `dtype` from every other type."""
    types: tuple[ElementType, ...] = tuple(t for t in ELEMENT_TYPES if t != dtype)
    return Operation(f"to_{dtype}", 1, types, stored=dtype != "f16", gives=dtype)


# Their order, too, is that of numbers in machine words.
_CONVERTED: tuple[ElementType, ...] = (*SIGNED, *UNSIGNED, "bool", *FLOATS, *STORED)
CONVERSIONS: tuple[Operation, ...] = (
    *map(_conversion, _CONVERTED),
    Operation("round_i32", 1, FLOATS, gives="i32"),
    Operation("sat8", 1, ("i32",), gives="i8"),
    Operation("satu8", 1, ("i32",), gives="u8"),
    Operation("bits_i32", 1, ("f32",), gives="i32"),
    Operation("bits_f32", 1, ("i32",), gives="f32"),
)
# The position in this table is the operation's number in machine words: append only.
OPERATIONS: tuple[Operation, ...] = (
    Operation("move", 1, ELEMENT_TYPES, stored=True),
    Operation("add", 2, _NUMBERS, "+"),
    Operation("sub", 2, _NUMBERS, "-"),
    Operation("mul", 2, _NUMBERS, "*"),
    Operation("div", 2, _NUMBERS, "/"),
    Operation("min", 2, _NUMBERS),
    Operation("max", 2, _NUMBERS),
    Operation("and", 2, _BITWISE, "and"),
    Operation("or", 2, _BITWISE, "or"),
    Operation("xor", 2, _BITWISE, "xor"),
    Operation("shl", 2, INTEGERS, "shl"),
    Operation("shr", 2, INTEGERS, "shr"),
    Operation("eq", 2, ELEMENT_TYPES, "==", compares=True),
    Operation("ne", 2, ELEMENT_TYPES, "!=", compares=True),
    Operation("lt", 2, _NUMBERS, "<", compares=True),
    Operation("le", 2, _NUMBERS, "<=", compares=True),
    Operation("gt", 2, _NUMBERS, ">", compares=True),
    Operation("ge", 2, _NUMBERS, ">=", compares=True),
    Operation("select", 3, ELEMENT_TYPES, stored=True),
    Operation("neg", 1, _NUMBERS, "-"),
    Operation("abs", 1, _NUMBERS),
    Operation("madd", 3, _NUMBERS),
    Operation("sqrt", 1, FLOATS),
    Operation("rem", 2, INTEGERS),
    Operation("floordiv", 2, INTEGERS),
    Operation("mod", 2, INTEGERS),
    *CONVERSIONS,
)
# No machine's: front ends write them (C's library functions), and transform.library puts operations in their place.
FUNCTIONS: tuple[Operation, ...] = (
    *(Operation(name, 1, ("f32",)) for name in ("exp", "exp2", "log", "sin", "cos", "tanh")),
    *(Operation(name, 1, FLOATS) for name in ("floor", "ceil", "round", "trunc", "rint")),
    Operation("pow", 2, _NUMBERS),
    Operation("popcount", 1, UNSIGNED, gives="i32"),
)
BY_NAME: dict[str, Operation] = {o.name: o for o in (*OPERATIONS, *FUNCTIONS)}
NUMBER: dict[str, int] = {o.name: n for n, o in enumerate(OPERATIONS)}
DIVISIONS = ("div", "rem", "floordiv", "mod")


def may_divide_by_zero(operation: str, dtype: ElementType) -> bool:
    """Whether a second operand of zero is a fault."""
    return operation in DIVISIONS and dtype in INTEGERS
