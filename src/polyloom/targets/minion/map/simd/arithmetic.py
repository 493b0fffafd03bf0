# SPDX-License-Identifier: Apache-2.0
"""Reference arithmetic of the vector unit, on NumPy arrays: as `ir.semantics`, in the environment of its floats.

Denormal operands are zeros of their sign, and so are results whose exact value is below 2^-126; every NaN is the
canonical one; min and max take the number, and -0 is less than +0 (IEEE 754-2019 minimumNumber). Moves, selections,
negation and absolute values only change bits.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from polyloom.ir.operations import ElementType
from polyloom.ir.python_source import Scope
from polyloom.ir.semantics import operation_function

Array = NDArray[Any]
Function = Callable[..., Any]
_LEAST: Final = 2.0**-126
_LEAST_HALF: Final = 2.0**-14
_NAN: Final = np.uint32(0x7FC00000).view(np.float32)
_ZERO: Final = np.float32(0)


def machine_function(operation: str, dtype: ElementType) -> Function:
    """Function of an operation on its operands, within `np.errstate(all="ignore")`."""
    if (operation, dtype) == ("to_f32", "f16"):
        return _from_f16
    if dtype == "f32" and operation in _SINGLE:
        return _SINGLE[operation]
    if dtype == "f32" and operation in _COMPARISONS:
        plain = operation_function(operation, dtype)
        return lambda *operands: plain(*map(flush_subnormals, operands))
    return operation_function(operation, dtype)


class MachineScope(Scope):
    """Machine arithmetic for interpreters that compute one value after another."""

    def function(self, operation: str, dtype: ElementType) -> Function:
        single = _ONE_BY_ONE.get(operation) if dtype == "f32" else None
        return single or machine_function(operation, dtype)


def _on_two_singles(operation: Callable[[float, float], float]) -> Function:
    """Operation on two singles in double precision: a double is so wide that rounding it once more gives the same
    (Figueroa, "When is double rounding innocuous?", 1995).
    """

    def compute(a: np.float32, b: np.float32) -> np.float32:
        x, y = float(a), float(b)
        # 0.0 · x is a zero with the sign of x.
        exact = operation(0.0 * x if -_LEAST < x < _LEAST else x, 0.0 * y if -_LEAST < y < _LEAST else y)
        if exact != exact:
            return _NAN
        return np.float32(0.0 * exact if -_LEAST < exact < _LEAST else exact)

    return compute


_ONE_BY_ONE: Final[dict[str, Function]] = {
    "add": _on_two_singles(lambda a, b: a + b),
    "sub": _on_two_singles(lambda a, b: a - b),
    "mul": _on_two_singles(lambda a, b: a * b),
}


def flush_subnormals(value: Array) -> Array:
    """Denormals as zeros of their sign."""
    return np.where(np.abs(value) < np.float32(_LEAST), np.copysign(_ZERO, value), value)


def _flush_result(exact: Array, result: Array) -> Array:
    """Result after flushing, decided by its exact value in double precision or one that is on the same side of
    2^-126.
    """
    small: Array = np.where(np.abs(exact) < _LEAST, np.copysign(_ZERO, result), result)
    return np.where(np.isnan(small), _NAN, small).astype(np.float32)


def _arithmetic(operation: Function) -> Function:
    """Operation with flushed operands and a flushed result; its exact value in double precision decides what is
    tiny.
    """

    def compute(*operands: Array) -> Array:
        values = [flush_subnormals(value) for value in operands]
        return _flush_result(operation(*(value.astype(np.float64) for value in values)), operation(*values))

    return compute


def _fused_multiply_add(a: Array, b: Array, c: Array) -> Array:
    """Fused multiply-add (IEEE 754-2019 fusedMultiplyAdd), flushed by the exact sum."""
    a, b, c = flush_subnormals(a), flush_subnormals(b), flush_subnormals(c)
    product, addend = a.astype(np.float64) * b.astype(np.float64), c.astype(np.float64)
    total = product + addend
    rest = total - product
    error = (product - (total - rest)) + (addend - rest)  # Knuth's TwoSum: total + error is the exact sum
    # The sum in double precision may have been rounded up to 2^-126 exactly; the error tells that the exact one is
    # below.
    below = (np.abs(total) == _LEAST) & (np.sign(error) == -np.sign(total))
    return _flush_result(np.where(below, total / 2, total), operation_function("madd", "f32")(a, b, c))


def _min_max(least: bool) -> Function:
    """minimumNumber or maximumNumber of IEEE 754-2019."""

    def choose(a: Array, b: Array) -> Array:
        a, b = flush_subnormals(a), flush_subnormals(b)
        below = (a < b) | ((a == b) & np.signbit(a) & ~np.signbit(b))
        number: Array = np.where(np.isnan(a), b, np.where(np.isnan(b), a, np.where(below == least, a, b)))
        return np.where(np.isnan(number), _NAN, number).astype(np.float32)

    return choose


def _negate(value: Array) -> Array:
    return (np.asarray(value, np.float32).view(np.uint32) ^ np.uint32(1 << 31)).view(np.float32)


def _absolute(value: Array) -> Array:
    return (np.asarray(value, np.float32).view(np.uint32) & np.uint32((1 << 31) - 1)).view(np.float32)


def _to_f16(value: Array) -> Array:
    """Conversion to f16: what is below 2^-14 before rounding is a zero."""
    small = np.where(np.abs(value) < _LEAST_HALF, np.copysign(_ZERO, value), value)
    return np.where(np.isnan(small), np.float16(np.nan), small.astype(np.float16)).astype(np.float16)


def _from_f16(value: Array) -> Array:
    """Conversion from f16, whose denormals are zeros."""
    wide = value.astype(np.float32)
    small = np.where(np.abs(wide) < _LEAST_HALF, np.copysign(_ZERO, wide), wide)
    return np.where(np.isnan(small), _NAN, small).astype(np.float32)


_COMPARISONS: Final = ("eq", "ne", "lt", "le", "gt", "ge", "to_i32", "round_i32")
_SINGLE: Final[dict[str, Function]] = {
    "add": _arithmetic(np.add),
    "sub": _arithmetic(np.subtract),
    "mul": _arithmetic(np.multiply),
    "div": _arithmetic(np.true_divide),
    "sqrt": _arithmetic(np.sqrt),
    "madd": _fused_multiply_add,
    "min": _min_max(True),
    "max": _min_max(False),
    "neg": _negate,
    "abs": _absolute,
    "to_f16": _to_f16,
}
