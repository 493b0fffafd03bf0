# SPDX-License-Identifier: Apache-2.0
"""Executable semantics of the operations of `ir.ssa`, on Python's numbers: integers in the range of their type taken as
signed, floats as float.

Sources are the LLVM Language Reference Manual and, for floats, IEEE 754 with rounding to nearest. A single is computed
in double and rounded once more, which for + - * / and square roots is exact (Figueroa, 1995). What is undefined raises
`Undefined`.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from operator import add, eq, ge, gt, le, lt, mul, ne, sub
from typing import Any, Final

import numpy as np

from polyloom.ir.ssa import FLAGS, Constant, float_value, wrap_to_type
from polyloom.ir.ssa_types import F32, F64, I1, Type

Number = int | float


class Undefined(Exception):
    """The operation has no meaning; the text says why."""


class Poison(Undefined):
    """Poison value (LLVM Language Reference Manual, "Poison Values"): the operation has no result, which matters only
    if that is used; LLVM moves such operations to where they were not asked for.
    """


def arithmetic(operation: str, type: Type, a: int, b: int, flags: tuple[str, ...] = ()) -> int:
    """An operation of `ssa.ARITHMETIC`."""
    exact = (
        _SIGNED[operation](type, a, b)
        if operation in _SIGNED
        else _UNSIGNED[operation](type, unsigned(type, a), unsigned(type, b))
    )
    if flags:
        _check_flags(operation, type, a, b, flags)
    return wrap_to_type(type, exact)


def unsigned(type: Type, a: int) -> int:
    return a & ((1 << type.bits) - 1)


def signed(type: Type, a: int) -> int:
    """An i1 is 0 or 1, and as signed 0 or -1."""
    return -a if type == I1 else a


def compare(operation: str, type: Type, a: int, b: int) -> int:
    """A comparison of integers or of pointers."""
    view = signed if operation[0] == "s" else unsigned
    return int(_RELATIONS[operation[-2:]](view(type, a), view(type, b)))


def compare_floats(operation: str, a: float, b: float) -> int:
    """Comparison of floats (IEEE 754, section 5.11): ordered ones are false for a NaN, unordered ones true."""
    ordered = not (math.isnan(a) or math.isnan(b))
    match operation:
        case "ford":
            return int(ordered)
        case "funo":
            return int(not ordered)
        case _:
            return int(_RELATIONS[operation[2:]](a, b) if ordered else operation[1] == "u")


def float_arithmetic(operation: str, type: Type, a: float, b: float) -> float:
    """An operation of `ssa.FLOATING`."""
    # NumPy divides by zero as IEEE 754, section 7.3, says, where Python raises an error.
    with np.errstate(all="ignore"):
        return nearest_float(type, float(_FLOATING[operation](np.float64(a), np.float64(b))))


def nearest_float(type: Type, a: float) -> float:
    """The nearest number of the type."""
    if type == F64:
        return a
    with np.errstate(all="ignore"):
        return float(np.float32(a))


def convert_value(operation: str, source: Type, target: Type, a: Any) -> Number:
    """An operation of `ssa.CASTS`."""
    match operation:
        case "trunc" | "ptrtoint":
            return wrap_to_type(target, a)
        case "zext" | "inttoptr":
            return unsigned(source, a)
        case "sext":
            return signed(source, a)
        case "sitofp" | "uitofp":
            return _integer_to_float(target, signed(source, a) if operation == "sitofp" else unsigned(source, a))
        case "fptosi" | "fptoui":
            return _truncate(operation, source, target, a)
        case "bitcast":
            return bits_value(target, value_bits(source, a))
        case _:
            return nearest_float(target, a)


def value_bits(type: Type, a: Number) -> int:
    """The bits of a value, unsigned."""
    if type not in (F32, F64):
        return unsigned(type, int(a))
    return int.from_bytes(struct.pack("<f" if type == F32 else "<d", a), "little")


def bits_value(type: Type, pattern: int) -> Number:
    """The value of bits."""
    return float_value(Constant(type, pattern)) if type in (F32, F64) else wrap_to_type(type, pattern)


def _integer_to_float(type: Type, a: int) -> float:
    """Integer as a float, rounded once: to odd in double first where that is to become a single (Boldo and Melquiond
    2008).
    """
    if type == F64:
        return float(a)
    # 40 bits and a sticky bit are more than 24 + 2, and a double holds them.
    shift = max(0, abs(a).bit_length() - 40)
    kept = (abs(a) >> shift) | int(abs(a) & ((1 << shift) - 1) != 0)
    return nearest_float(F32, math.copysign(float(kept << shift), a))


def _truncate(operation: str, source: Type, target: Type, a: float) -> int:
    least = -(1 << (target.bits - 1)) if operation == "fptosi" else 0
    most = (1 << (target.bits - (operation == "fptosi"))) - 1
    # LLVM Language Reference Manual, `fptosi`: what does not fit is poison.
    if not math.isfinite(a) or not least <= int(a) <= most:
        raise Poison(f"{a} of type {source} does not fit into {target}")
    return wrap_to_type(target, int(a))


def _check_flags(operation: str, type: Type, a: int, b: int, flags: tuple[str, ...]) -> None:
    """`nsw`, `nuw` and `exact` exclude results that lose something."""
    views = {"nsw": signed, "nuw": unsigned}
    for flag in (flag for flag in flags if flag in FLAGS):
        if flag == "exact":
            lost = _loses_bits(operation, type, a, b)
        else:
            view = views[flag]
            # On integers without bounds: the flag holds if the exact result is in range.
            exact = _EXACT[operation](view(type, a), view(type, b) if operation != "shl" else unsigned(type, b))
            lost = view(type, wrap_to_type(type, exact)) != exact
        if lost:
            raise Poison(f"the result of {operation} is not what {flag} promises")


def _loses_bits(operation: str, type: Type, a: int, b: int) -> bool:
    dividend, divisor = unsigned(type, a), unsigned(type, b)
    return (
        dividend % (1 << divisor) != 0
        if operation in ("lshr", "ashr")
        else (dividend % divisor if operation == "udiv" else signed(type, a) % signed(type, b)) != 0
    )


def _divisor(type: Type, b: int) -> int:
    if b == 0:
        raise Undefined("division by zero")
    return b


def _quotient(type: Type, a: int, b: int) -> int:
    a, b = signed(type, a), signed(type, _divisor(type, b))
    quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
    # The only overflow of a division, which some processors answer with a trap.
    if signed(type, wrap_to_type(type, quotient)) != quotient:
        raise Undefined("the least number divided by -1 is no number of the type")
    return quotient


def _remainder(type: Type, a: int, b: int) -> int:
    return signed(type, a) - _quotient(type, a, b) * signed(type, b)


def _shift_amount(type: Type, b: int) -> int:
    if unsigned(type, b) >= type.bits:
        raise Poison(f"a shift of {type} by {unsigned(type, b)}")
    return unsigned(type, b)


_SIGNED: Final[dict[str, Callable[[Type, int, int], int]]] = {
    "sdiv": _quotient,
    "srem": _remainder,
    "ashr": lambda type, a, b: signed(type, a) >> _shift_amount(type, b),
}
_UNSIGNED: Final[dict[str, Callable[[Type, int, int], int]]] = {
    "add": lambda _, a, b: a + b,
    "sub": lambda _, a, b: a - b,
    "mul": lambda _, a, b: a * b,
    "and": lambda _, a, b: a & b,
    "or": lambda _, a, b: a | b,
    "xor": lambda _, a, b: a ^ b,
    "udiv": lambda type, a, b: a // _divisor(type, b),
    "urem": lambda type, a, b: a % _divisor(type, b),
    "shl": lambda type, a, b: a << _shift_amount(type, b),
    "lshr": lambda type, a, b: a >> _shift_amount(type, b),
}
_EXACT: Final[dict[str, Callable[[int, int], int]]] = {"add": add, "sub": sub, "mul": mul, "shl": lambda a, b: a << b}
_RELATIONS: Final[dict[str, Callable[[Any, Any], bool]]] = {"eq": eq, "ne": ne, "lt": lt, "le": le, "gt": gt, "ge": ge}
_FLOATING: Final[dict[str, Callable[[Any, Any], Any]]] = {"fadd": add, "fsub": sub, "fmul": mul, "fdiv": np.divide}
