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
from polyloom.ir.ssa_semantics import bits
from polyloom.ir.ssa_types import F32, F64, FLOATS, I1, INTEGERS, Type

# Bits of the fraction in binary32 and binary64 (IEEE 754, table 3.5).
_FRACTION: Final = {F32: 23, F64: 52}


class Emit(Protocol):
    """Appends an instruction, and gives its result."""

    def __call__(
        self, operation: str, operands: tuple[Operand, ...], name: str, type: Type, /, *, callee: str = ""
    ) -> Value: ...


def expanded(known: str, emit: Emit, operands: list[Operand], name: str, result: Type) -> None:
    """The result of the intrinsic gets the name. `known` is one of `EXPANDED`."""
    _FORMS[known](emit, operands[0], name, result)


def _float(value: Operand) -> Type:
    if value.type not in FLOATS:
        raise Unsupported(f"the rounding of {value.type}")
    return value.type


def _number(type: Type, number: float) -> Constant:
    return Constant(type, bits(type, number))


def _magnitude(emit: Emit, value: Operand) -> Value:
    return emit("call", (value,), "", value.type, callee="fabs")


def _nearest(emit: Emit, magnitude: Operand) -> Value:
    """Round to nearest, ties to even, of a magnitude: what is no less than zero; a NaN stays."""
    type = magnitude.type
    large = _number(type, 2.0 ** _FRACTION[type])
    near = emit("fsub", (emit("fadd", (magnitude, large), "", type), large), "", type)
    # From 2^p on every number is integral, and the sum would round it; an ordered comparison is false for NaN.
    return emit("select", (emit("folt", (magnitude, large), "", I1), near, magnitude), "", type)


def _corrected(emit: Emit, test: str, compared: Operand, near: Operand, step: float) -> Value:
    """`near` and a step where the comparison of `near` with `compared` holds."""
    type = near.type
    moved = emit("fadd", (near, _number(type, step)), "", type)
    return emit("select", (emit(test, (near, compared), "", I1), moved, near), "", type)


def _signed(emit: Emit, magnitude: Operand, sign: Operand, name: str) -> Value:
    return emit("call", (magnitude, sign), name, sign.type, callee="copysign")


def _even(emit: Emit, value: Operand, name: str, _: Type) -> None:
    # On the magnitude, because the trick with 2^p needs one sign; the result takes the sign back.
    """`rint`, `nearbyint`, `roundeven`: ties to even, with the sign of the operand, also of zeros (C17, section
    7.12.9.4).
    """
    _float(value)
    _signed(emit, _nearest(emit, _magnitude(emit, value)), value, name)


def _floor(emit: Emit, value: Operand, name: str, _: Type) -> None:
    """`floor`: the nearest integral value, minus one where that is above the operand (C17, section 7.12.9.2)."""
    _float(value)
    near = _signed(emit, _nearest(emit, _magnitude(emit, value)), value, "")
    _signed(emit, _corrected(emit, "fogt", value, near, -1.0), value, name)


def _ceil(emit: Emit, value: Operand, name: str, _: Type) -> None:
    """`ceil`: the nearest integral value, plus one where that is below the operand (C17, section 7.12.9.1)."""
    _float(value)
    near = _signed(emit, _nearest(emit, _magnitude(emit, value)), value, "")
    # -1 + 1 is +0.0, and ceil(-0.7) is -0.0: the sign is copied once more.
    _signed(emit, _corrected(emit, "folt", value, near, 1.0), value, name)


def _truncated(emit: Emit, magnitude: Operand) -> Value:
    return _corrected(emit, "fogt", magnitude, _nearest(emit, magnitude), -1.0)


def _trunc(emit: Emit, value: Operand, name: str, _: Type) -> None:
    _float(value)
    _signed(emit, _truncated(emit, _magnitude(emit, value)), value, name)


def _away(emit: Emit, value: Operand, name: str) -> Value:
    """Round half away from zero (C17, section 7.12.9.6): what truncation takes off is exact, and compared with one
    half.
    """
    type = _float(value)
    magnitude = _magnitude(emit, value)
    whole = _truncated(emit, magnitude)
    # Adding 0.5 and truncating would be wrong for the largest number below 0.5, whose sum rounds up to 1.
    rest = emit("fsub", (magnitude, whole), "", type)
    up = emit("fadd", (whole, _number(type, 1.0)), "", type)
    is_half = emit("foge", (rest, _number(type, 0.5)), "", I1)
    return _signed(emit, emit("select", (is_half, up, whole), "", type), value, name)


def _round(emit: Emit, value: Operand, name: str, _: Type) -> None:
    _away(emit, value, name)


def _to_integer(emit: Emit, value: Operand, name: str, result: Type) -> None:
    _float(value)
    near = _signed(emit, _nearest(emit, _magnitude(emit, value)), value, "")
    emit("fptosi", (near,), name, result)


def _away_to_integer(emit: Emit, value: Operand, name: str, result: Type) -> None:
    emit("fptosi", (_away(emit, value, ""),), name, result)


def _reversed(emit: Emit, value: Operand, name: str, type: Type) -> None:
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
    **dict.fromkeys(("rint", "nearbyint", "roundeven"), _even),
    "floor": _floor,
    "ceil": _ceil,
    "trunc": _trunc,
    "round": _round,
    **dict.fromkeys(("lrint", "llrint"), _to_integer),
    **dict.fromkeys(("lround", "llround"), _away_to_integer),
    "bitreverse": _reversed,
}
EXPANDED: Final = frozenset(_FORMS)
"""The intrinsics, without `llvm.` and without types."""
LIBRARY: Final = {f"{name}{suffix}": name for name in _FORMS if name != "bitreverse" for suffix in ("", "f")}
"""Functions of C's library that mean the same."""
