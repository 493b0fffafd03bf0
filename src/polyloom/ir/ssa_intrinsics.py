# SPDX-License-Identifier: Apache-2.0
"""Intrinsics of `ir.ssa` that have a result (LLVM Language Reference Manual, "Standard C/C++ Library Intrinsics", "Bit
Manipulation Intrinsics"), on the numbers of `ir.ssa_semantics`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from operator import add, sub
from typing import Any, Final

from polyloom.ir.ssa import wrap_to_type
from polyloom.ir.ssa_semantics import (
    Number,
    Poison,
    arithmetic,
    float_arithmetic,
    nearest_float,
    signed,
    unsigned,
    value_bits,
)
from polyloom.ir.ssa_types import F32, F64, FLOATS, Type


def apply_intrinsic(callee: str, type: Type, operands: tuple[Any, ...], flags: tuple[str, ...] = ()) -> Number:
    """An operation of `ssa.INTRINSICS`."""
    # LLVM's `is_int_min_poison` is imported as the flag nsw.
    if callee == "abs" and flags and operands[0] == -(1 << (type.bits - 1)):
        raise Poison("the absolute value of the least number is no number, and nsw is set")
    if callee == "fma":
        return _fused_multiply_add(type, *operands)
    if callee in _FLOATING:
        return nearest_float(type, _FLOATING[callee](*operands))
    return wrap_to_type(type, _INTEGER[callee](type, *operands))


def modify_value(name: str, type: Type, old: Any, operand: Any) -> Number:
    """Stored value of an `rmw`, an operation of `ssa.MODIFICATIONS`, from what was there (LLVM Language Reference
    Manual, `atomicrmw`).
    """
    if name == "xchg":
        return operand
    if name == "nand":
        return wrap_to_type(type, ~(int(old) & int(operand)))
    if type in FLOATS:
        return float_arithmetic(name, type, old, operand)
    return apply_intrinsic(name, type, (old, operand)) if name in _INTEGER else arithmetic(name, type, old, operand)


def _with_signedness(
    choose: Callable[[int, int], int], view: Callable[[Type, int], int]
) -> Callable[[Type, int, int], int]:
    return lambda type, a, b: choose(view(type, a), view(type, b))


def _saturate(function: Callable[[int, int], int], view: Callable[[Type, int], int]) -> Callable[[Type, int, int], int]:
    def saturate(type: Type, a: int, b: int) -> int:
        least, most = (
            (0, (1 << type.bits) - 1) if view is unsigned else (-(1 << (type.bits - 1)), (1 << (type.bits - 1)) - 1)
        )
        return max(least, min(most, function(view(type, a), view(type, b))))

    return saturate


def _funnel_shift(left: bool) -> Callable[[Type, int, int, int], int]:
    """Funnel shift, `fshl` or `fshr`: a window of one width on the concatenation of two values, the amount modulo the
    width.
    """

    def shift(type: Type, a: int, b: int, c: int) -> int:
        width = type.bits
        # Modulo the width (LLVM Language Reference Manual, `llvm.fshl`), where a plain shift would be poison.
        amount = unsigned(type, c) % width
        return (
            ((unsigned(type, a) << width | unsigned(type, b)) << amount) >> width
            if left
            else (unsigned(type, a) << width | unsigned(type, b)) >> amount
        )

    return shift


def _prefer_number(choose: Callable[[float, float], float]) -> Callable[[float, float], float]:
    # min and max of Python give the first of equals, and so of two zeros.
    return lambda a, b: b if math.isnan(a) else a if math.isnan(b) else choose(a, b)


def _count_trailing_zeros(type: Type, a: int) -> int:
    """Trailing zeros: a & -a isolates the lowest set bit (Hacker's Delight, section 2-1); of 0 the width."""
    return type.bits if a == 0 else (a & -a).bit_length() - 1


_UNARY: Final[dict[str, Callable[[Type, int], int]]] = {
    "abs": lambda type, a: abs(signed(type, a)),
    "ctpop": lambda type, a: unsigned(type, a).bit_count(),
    "ctlz": lambda type, a: type.bits - unsigned(type, a).bit_length(),
    "cttz": lambda type, a: _count_trailing_zeros(type, unsigned(type, a)),
    "bswap": lambda type, a: int.from_bytes(unsigned(type, a).to_bytes(type.bits // 8, "little"), "big"),
}
_INTEGER: Final[dict[str, Callable[..., int]]] = {
    **_UNARY,
    "smin": _with_signedness(min, signed),
    "smax": _with_signedness(max, signed),
    "umin": _with_signedness(min, unsigned),
    "umax": _with_signedness(max, unsigned),
    "uadd.sat": _saturate(add, unsigned),
    "usub.sat": _saturate(sub, unsigned),
    "sadd.sat": _saturate(add, signed),
    "ssub.sat": _saturate(sub, signed),
    "fshl": _funnel_shift(True),
    "fshr": _funnel_shift(False),
}


def _square_root(a: float) -> float:
    # Python raises an error there; IEEE 754, section 7.2, has a NaN.
    return math.nan if a < 0 else math.sqrt(a)


def _fused_multiply_add(type: Type, a: float, b: float, c: float) -> float:
    """Fused multiply-add, rounded once (IEEE 754, section 5.4.1). For a single the exact sum is first rounded to odd in
    double (Boldo and Melquiond 2008).
    """
    if not all(map(math.isfinite, (a, b, c))):
        return c if math.isfinite(a) and math.isfinite(b) else a * b + c
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    if exact == 0:
        # An exact zero has the sign that IEEE 754, section 6.3, gives to a sum of zeros, or + where terms cancel.
        return a * b + c if a == 0 or b == 0 else 0.0
    try:
        near = float(exact)
    except OverflowError:
        return math.inf if exact > 0 else -math.inf
    if type == F32 and Fraction(near) != exact and value_bits(F64, near) % 2 == 0:
        near = math.nextafter(near, math.inf if exact > Fraction(near) else -math.inf)
    return nearest_float(type, near)


_FLOATING: Final[dict[str, Callable[..., float]]] = {
    "fabs": math.fabs,
    "sqrt": _square_root,
    "copysign": math.copysign,
    "minnum": _prefer_number(min),
    "maxnum": _prefer_number(max),
}
