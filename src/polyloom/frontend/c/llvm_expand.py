# SPDX-License-Identifier: Apache-2.0
"""Expansion of LLVM's intrinsics that SSA form has no name for.

Rounding to integral values, in the rounding to nearest even that C begins with (IEEE 754, section 5.9): with a fraction
of p bits, adding 2^p to what is less and taking it off again leaves the nearest integral value, because the sum has no
bits for a fraction; those of zeros too. Reversed bits are swaps of halves, from single bits up (Hacker's Delight,
section 7-1).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Protocol

from polyloom.frontend.c.llvm_text import Unsupported
from polyloom.ir.ssa import Constant, Operand, Value
from polyloom.ir.ssa_semantics import value_bits
from polyloom.ir.ssa_types import F32, F64, FLOATS, I1, INTEGERS, Type

# Bits of the fraction in binary32 and binary64 (IEEE 754, table 3.5).
_FRACTION: Final = {F32: 23, F64: 52}


class Emit(Protocol):
    """Appends an instruction, and gives its result."""

    def __call__(
        self, operation: str, operands: tuple[Operand, ...], name: str, type: Type, /, *, callee: str = ""
    ) -> Value: ...


def expand_intrinsic(known: str, emit: Emit, operands: list[Operand], name: str, result: Type) -> None:
    """The result of the intrinsic gets the name. `known` is one of `EXPANDED`."""
    _FORMS[known](emit, operands[0], name, result)


def _float_type(value: Operand) -> Type:
    if value.type not in FLOATS:
        raise Unsupported(f"the rounding of {value.type}")
    return value.type


def _float_constant(type: Type, number: float) -> Constant:
    return Constant(type, value_bits(type, number))


def _magnitude(emit: Emit, value: Operand) -> Value:
    return emit("call", (value,), "", value.type, callee="fabs")


def _nearest_even(emit: Emit, magnitude: Operand) -> Value:
    """Round to nearest, ties to even, of a magnitude: what is no less than zero; a NaN stays."""
    type = magnitude.type
    large = _float_constant(type, 2.0 ** _FRACTION[type])
    near = emit("fsub", (emit("fadd", (magnitude, large), "", type), large), "", type)
    # From 2^p on every number is integral, and the sum would round it; an ordered comparison is false for NaN.
    return emit("select", (emit("folt", (magnitude, large), "", I1), near, magnitude), "", type)


def _correct_rounding(emit: Emit, test: str, compared: Operand, near: Operand, step: float) -> Value:
    """`near` and a step where the comparison of `near` with `compared` holds."""
    type = near.type
    moved = emit("fadd", (near, _float_constant(type, step)), "", type)
    return emit("select", (emit(test, (near, compared), "", I1), moved, near), "", type)


def _copy_sign(emit: Emit, magnitude: Operand, sign: Operand, name: str) -> Value:
    return emit("call", (magnitude, sign), name, sign.type, callee="copysign")


def _ties_even_rounding(emit: Emit, value: Operand, name: str, _: Type) -> None:
    # On the magnitude, because the trick with 2^p needs one sign; the result takes the sign back.
    """`rint`, `nearbyint`, `roundeven`: ties to even, with the sign of the operand, also of zeros (C17, section
    7.12.9.4).
    """
    _float_type(value)
    _copy_sign(emit, _nearest_even(emit, _magnitude(emit, value)), value, name)


def _lower_floor(emit: Emit, value: Operand, name: str, _: Type) -> None:
    """`floor`: the nearest integral value, minus one where that is above the operand (C17, section 7.12.9.2)."""
    _float_type(value)
    near = _copy_sign(emit, _nearest_even(emit, _magnitude(emit, value)), value, "")
    _copy_sign(emit, _correct_rounding(emit, "fogt", value, near, -1.0), value, name)


def _lower_ceil(emit: Emit, value: Operand, name: str, _: Type) -> None:
    """`ceil`: the nearest integral value, plus one where that is below the operand (C17, section 7.12.9.1)."""
    _float_type(value)
    near = _copy_sign(emit, _nearest_even(emit, _magnitude(emit, value)), value, "")
    # -1 + 1 is +0.0, and ceil(-0.7) is -0.0: the sign is copied once more.
    _copy_sign(emit, _correct_rounding(emit, "folt", value, near, 1.0), value, name)


def _truncate(emit: Emit, magnitude: Operand) -> Value:
    return _correct_rounding(emit, "fogt", magnitude, _nearest_even(emit, magnitude), -1.0)


def _lower_trunc(emit: Emit, value: Operand, name: str, _: Type) -> None:
    _float_type(value)
    _copy_sign(emit, _truncate(emit, _magnitude(emit, value)), value, name)


def _ties_away_rounding(emit: Emit, value: Operand, name: str) -> Value:
    """Round half away from zero (C17, section 7.12.9.6): what truncation takes off is exact, and compared with one
    half.
    """
    type = _float_type(value)
    magnitude = _magnitude(emit, value)
    whole = _truncate(emit, magnitude)
    # Adding 0.5 and truncating would be wrong for the largest number below 0.5, whose sum rounds up to 1.
    rest = emit("fsub", (magnitude, whole), "", type)
    up = emit("fadd", (whole, _float_constant(type, 1.0)), "", type)
    is_half = emit("foge", (rest, _float_constant(type, 0.5)), "", I1)
    return _copy_sign(emit, emit("select", (is_half, up, whole), "", type), value, name)


def _ties_away_result(emit: Emit, value: Operand, name: str, _: Type) -> None:
    _ties_away_rounding(emit, value, name)


def _integer_rounding(emit: Emit, value: Operand, name: str, result: Type) -> None:
    _float_type(value)
    near = _copy_sign(emit, _nearest_even(emit, _magnitude(emit, value)), value, "")
    emit("fptosi", (near,), name, result)


def _ties_away_integer(emit: Emit, value: Operand, name: str, result: Type) -> None:
    emit("fptosi", (_ties_away_rounding(emit, value, ""),), name, result)


def _reverse_bits(emit: Emit, value: Operand, name: str, type: Type) -> None:
    """Bit reversal by swaps of neighbouring groups of 1, 2, 4 ... bits (Hacker's Delight, section 7-1), for powers of
    two from 8 bits.
    """
    if type not in INTEGERS or type.bits & (type.bits - 1) or type.bits < 8:
        raise Unsupported(f"the reversed bits of {type}")
    width, every = type.bits, (1 << type.bits) - 1
    steps = [n for n in (1, 2, 4, 8, 16, 32) if n < width]
    for n in steps:
        # Every second group of n bits.
        low = Constant(type, _as_signed(every // ((1 << n) + 1), width))
        amount = Constant(type, n)
        right, left = emit("lshr", (value, amount), "", type), value
        # Shifts of halves leave no other bits.
        if 2 * n < width:
            right, left = emit("and", (right, low), "", type), emit("and", (left, low), "", type)
        left = emit("shl", (left, amount), "", type)
        value = emit("or", (right, left), name if n == steps[-1] else "", type)


def _as_signed(value: int, width: int) -> int:
    return value - (1 << width) if value >> (width - 1) else value


_FORMS: Final[dict[str, Callable[[Emit, Operand, str, Type], None]]] = {
    **dict.fromkeys(("rint", "nearbyint", "roundeven"), _ties_even_rounding),
    "floor": _lower_floor,
    "ceil": _lower_ceil,
    "trunc": _lower_trunc,
    "round": _ties_away_result,
    **dict.fromkeys(("lrint", "llrint"), _integer_rounding),
    **dict.fromkeys(("lround", "llround"), _ties_away_integer),
    "bitreverse": _reverse_bits,
}
EXPANDED: Final = frozenset(_FORMS)
"""The intrinsics, without `llvm.` and without types."""
LIBRARY: Final = {f"{name}{suffix}": name for name in _FORMS if name != "bitreverse" for suffix in ("", "f")}
"""Functions of C's library that mean the same."""
