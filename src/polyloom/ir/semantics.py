# SPDX-License-Identifier: Apache-2.0
"""The operations on NumPy arrays and on NumPy scalars alike: one executable definition (ir/operations.py says what they mean).

Integer arithmetic wraps because NumPy's does. f32 multiply-add rounds once: the product of two singles is exact in double,
the sum is rounded to odd (Boldo, Melquiond, IEEE TC 57(4), 2008), and rounding that to single equals rounding the exact sum.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from polyloom.ir.numbers import NUMPY, WIDTH
from polyloom.ir.operations import ElementType

Value = Any
"""An array or a scalar of the element type's NumPy type: NumPy's own annotations do not join the two."""


def apply(operation: str, dtype: ElementType, operands: list[Value]) -> Value:
    """`operation` on operands of `dtype`; call it within `np.errstate(all="ignore")`. Integer division by zero is undefined."""
    special = _SINGLE.get(operation) if dtype == "f32" else _INTEGER.get(operation)
    return special(dtype, *operands) if special is not None else _COMMON[operation](*operands)


def _select(condition: Value, a: Value, b: Value) -> Value:
    return np.where(condition != 0, a, b)


def _compare(relation: Callable[[Value, Value], Value]) -> Callable[[Value, Value], Value]:
    return lambda a, b: relation(a, b).astype(np.int32)


def _divide(dtype: ElementType, a: Value, b: Value) -> Value:
    wide, divisor = a.astype(np.int64), b.astype(np.int64)
    quotient = np.abs(wide) // np.abs(divisor)
    return np.where((wide < 0) == (divisor < 0), quotient, -quotient).astype(NUMPY[dtype])


def _shift(direction: Callable[[Value, Value], Value]) -> Callable[[ElementType, Value, Value], Value]:
    def shift(dtype: ElementType, a: Value, b: Value) -> Value:
        return direction(a, b & NUMPY[dtype].type(WIDTH[dtype] - 1))

    return shift


def _number_first(better: Callable[[Value, Value], Value]) -> Callable[[ElementType, Value, Value], Value]:
    """min or max: the operand that is a number, and the first one of equals (so of two zeros)."""
    return lambda dtype, a, b: np.where(better(b, a) | np.isnan(a), b, a)


def _fused(dtype: ElementType, a: Value, b: Value, c: Value) -> Value:
    product, addend = a.astype(np.float64) * b.astype(np.float64), c.astype(np.float64)
    total = product + addend
    rest = total - product
    error = (product - (total - rest)) + (addend - rest)  # Knuth's TwoSum: total + error is the exact sum
    inexact_even = (error != 0) & np.isfinite(error) & (total.view(np.int64) & 1 == 0)
    odd = np.nextafter(total, np.copysign(np.inf, error))
    return np.where(inexact_even, odd, total).astype(np.float32)


_COMMON: dict[str, Callable[..., Value]] = {
    "move": lambda a: a,
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b,
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
    "min": np.minimum,
    "max": np.maximum,
    "eq": _compare(lambda a, b: a == b),
    "ne": _compare(lambda a, b: a != b),
    "lt": _compare(lambda a, b: a < b),
    "le": _compare(lambda a, b: a <= b),
    "gt": _compare(lambda a, b: a > b),
    "ge": _compare(lambda a, b: a >= b),
    "select": _select,
    "neg": lambda a: -a,
    "abs": np.abs,
    "madd": lambda a, b, c: a * b + c,
    "sqrt": np.sqrt,
}
_INTEGER: dict[str, Callable[..., Value]] = {"div": _divide, "shl": _shift(np.left_shift), "shr": _shift(np.right_shift)}
_SINGLE: dict[str, Callable[..., Value]] = {
    "min": _number_first(lambda a, b: a < b),
    "max": _number_first(lambda a, b: a > b),
    "madd": _fused,
}
