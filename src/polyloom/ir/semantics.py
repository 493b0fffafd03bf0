# SPDX-License-Identifier: Apache-2.0
"""Executable semantics of the operations, on NumPy arrays and on NumPy scalars alike (ir/operations.py says what they
mean).

Integer arithmetic wraps because NumPy's does. f32 multiply-add rounds once: the product of two singles is exact in
double, the sum is rounded to odd (Boldo, Melquiond, IEEE TC 57(4), 2008), and rounding that to single equals rounding
the exact sum. That of f64 is in ir/fused.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from polyloom.diagnostics import PolyloomError, Span, input_error
from polyloom.ir import fused_multiply_add
from polyloom.ir.numbers import NUMPY, WIDTH
from polyloom.ir.operations import INTEGERS, ElementType, may_divide_by_zero
from polyloom.ir.pla import Constant

Value = npt.NDArray[Any]
"""An array of the element type's NumPy type; NumPy's scalars, which no annotation joins with arrays, do as well."""
Function = Callable[..., Any]


def apply(operation: str, dtype: ElementType, operands: Sequence[Any]) -> Any:
    """`operation` on `dtype`, within `np.errstate(all="ignore")`. Integer division by zero is undefined."""
    return operation_function(operation, dtype)(*operands)


@dataclass(frozen=True, slots=True)
class Meaning:
    """Interpretation of operations by an interpreter: how elements are stored, the element of a constant, operations,
    and which of them fault on a divisor of zero.
    """

    stored: Callable[[ElementType], np.dtype[Any]]
    constant: Callable[[Constant], Any]
    apply: Callable[[str, ElementType, Sequence[Any]], Any]
    divides: Callable[[str, ElementType], bool]


def division_by_zero(name: str, at: str, span: Span | None) -> PolyloomError:
    """PL0233: the statement or equation `name` divides an integer by zero, in the iteration that `at` describes."""
    help = "keep the divisor away from 0 by a selection, or give other inputs (--in): what is not given is made up"
    return input_error("PL0233", f"{name} divides by zero{f' at {at}' if at else ''}", span=span, help=help)


def operation_function(operation: str, dtype: ElementType) -> Function:
    """The function of the operands that `apply` applies."""
    table = _BOOL if dtype == "bool" else _INTEGER if dtype in INTEGERS else _FLOAT
    # Tables by kind of type have what differs from NumPy's operation.
    special = table.get(operation)
    return partial(special, dtype) if special is not None else _COMMON[operation]


def _select(condition: Value, a: Value, b: Value) -> Value:
    return np.where(condition != 0, a, b)


def _comparison(relation: Function) -> Function:
    def compare(a: Value, b: Value) -> Value:
        # Comparisons give i32, not NumPy's bool.
        return relation(a, b).astype(np.int32)

    return compare


def _wide_division(function: Function) -> Function:
    """A division in 64 bits, where the least number divided by -1 is a number, wrapped to the type."""

    def divide(dtype: ElementType, a: Value, b: Value) -> Value:
        return function(a.astype(np.int64), b.astype(np.int64)).astype(NUMPY[dtype])

    return divide


def _truncated_quotient(a: Value, b: Value) -> Value:
    # fmod has the sign of the dividend, so that what is divided is an exact multiple.
    return (a - np.fmod(a, b)) // b


def _masked_shift(direction: Function) -> Function:
    def shift(dtype: ElementType, a: Value, b: Value) -> Value:
        # Amounts modulo the width: NumPy's result of larger ones is the host's.
        return direction(a, b & NUMPY[dtype].type(WIDTH[dtype] - 1))

    return shift


def _prefer_number(better: Function) -> Function:
    """Minimum or maximum of IEEE 754-2008 (minNum, maxNum): the operand that is a number, and the first one of equals
    (so of two zeros).
    """

    def choose(dtype: ElementType, a: Value, b: Value) -> Value:
        # `better` is strict and false for NaNs: of equals, and where b is a NaN, a stays.
        return np.where(better(b, a) | np.isnan(a), b, a)

    return choose


def _move_bool(dtype: ElementType, a: Value) -> Value:
    # NumPy has no `positive` of bool; or of a value with itself copies it.
    return np.bitwise_or(a, a)


def _multiply_add(a: Value, b: Value, c: Value) -> Value:
    return a * b + c


def _fused_multiply_add(dtype: ElementType, a: Value, b: Value, c: Value) -> Value:
    if dtype == "f64":
        return fused_multiply_add.multiply_add(a, b, c)
    # 24 + 24 bits fit the 53 of a double: the product has no error.
    product, addend = a.astype(np.float64) * b.astype(np.float64), c.astype(np.float64)
    return fused_multiply_add.sum_rounded_to_single(product, addend)


def _saturating_conversion(result: ElementType) -> Function:
    """Toward zero, saturated; 0 of a NaN."""

    def convert(dtype: ElementType, a: Value) -> Value:
        return _saturate(np.where(np.isnan(a), 0.0, np.trunc(a.astype(np.float64))), result)

    return convert


def _nearest_i32(a: Value) -> Value:
    return _saturate(np.rint(a.astype(np.float64)), "i32")


def _saturate(a: Value, result: ElementType) -> Value:
    """A float without a fraction as the nearest element of the type; the greatest one for a NaN."""
    least, most = int(np.iinfo(NUMPY[result]).min), int(np.iinfo(NUMPY[result]).max)
    # NaNs get here by `round_i32` alone: truncation has made 0 of them.
    return np.where(np.isnan(a), most, np.clip(a, least, most)).astype(NUMPY[result])


def _reinterpret_bits(result: ElementType) -> Function:
    def convert(a: Value) -> Value:
        return np.asarray(a).view(NUMPY[result])[()]

    return convert


def _clip_to_type(result: ElementType) -> Function:
    kind = NUMPY[result]
    least, most = int(np.iinfo(kind).min), int(np.iinfo(kind).max)

    def clip(a: Value) -> Value:
        return np.clip(a, least, most).astype(kind)

    return clip


def _wrap_to_type(result: ElementType) -> Function:
    def convert(a: Value) -> Value:
        return a.astype(NUMPY[result])

    return convert


_COMMON: dict[str, Function] = {
    **{f"to_{t}": _wrap_to_type(t) for t in NUMPY},
    "round_i32": _nearest_i32,
    "bits_i32": _reinterpret_bits("i32"),
    "bits_f32": _reinterpret_bits("f32"),
    "sat8": _clip_to_type("i8"),
    "satu8": _clip_to_type("u8"),
    "move": np.positive,
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.true_divide,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
    "min": np.minimum,
    "max": np.maximum,
    "eq": _comparison(np.equal),
    "ne": _comparison(np.not_equal),
    "lt": _comparison(np.less),
    "le": _comparison(np.less_equal),
    "gt": _comparison(np.greater),
    "ge": _comparison(np.greater_equal),
    "select": _select,
    "neg": np.negative,
    "abs": np.abs,
    "madd": _multiply_add,
    "sqrt": np.sqrt,
}
_BOOL: dict[str, Function] = {"move": _move_bool}
_INTEGER: dict[str, Function] = {
    "div": _wide_division(_truncated_quotient),
    "rem": _wide_division(np.fmod),
    "floordiv": _wide_division(np.floor_divide),
    "mod": _wide_division(np.mod),
    "shl": _masked_shift(np.left_shift),
    "shr": _masked_shift(np.right_shift),
}
_FLOAT: dict[str, Function] = {
    **{f"to_{t}": _saturating_conversion(t) for t in INTEGERS},
    "min": _prefer_number(np.less),
    "max": _prefer_number(np.greater),
    "madd": _fused_multiply_add,
}

NUMBERS: Final = Meaning(
    NUMPY.__getitem__, lambda c: np.asarray(c.value, NUMPY[c.dtype])[()], apply, may_divide_by_zero
)
"""Elements as NumPy has them."""
