# SPDX-License-Identifier: Apache-2.0
"""IEEE half precision (IEEE 754-2019 binary16) by integer arithmetic: elements that are stored, moved and converted.

To a single: the bits of magnitude in the place of a single's, times 2^112, which is exact for subnormal numbers too;
infinities and NaNs get the greatest exponent. From a single: rounded to nearest, ties to even; from a wider type first
to a single by rounding to odd, after which the second rounding is that of the exact number (Boldo, Melquiond, 2008).
"""

from __future__ import annotations

import struct
from typing import Final

from polyloom.ir.operations import UNSIGNED, ElementType
from polyloom.ir.ssa import Constant, Operand, float_constant, integer_constant
from polyloom.ir.ssa_types import F32, F64, I16, I32
from polyloom.transform.nest_to_ssa.writer import Writer

_SIGN: Final = -(2**31)
_INFINITE: Final = 0x7C00
_EXPONENT: Final = 0x7F800000
_NORMAL: Final = 0x38800000
"""2^-14, the least normal half, as a single's bits."""
_BEYOND: Final = 0x477FF000
"""65520: what is rounded to an infinity, from here on."""
_HALF: Final = 0x3F000000
"""0.5, in whose last place is the least subnormal half."""


def f16_bits(value: float) -> Constant:
    """The bits of a half."""
    return integer_constant(I16, int.from_bytes(struct.pack("<e", value), "little"))


def to_single(writer: Writer, half: Operand) -> Operand:
    """Conversion of a half to a single, exact (IEEE 754-2019, section 5.4.2)."""
    bits = writer.put("zext", I32, half)
    sign = writer.put(
        "shl", I32, writer.put("and", I32, bits, integer_constant(I32, 0x8000)), integer_constant(I32, 16)
    )
    size = writer.put("and", I32, bits, integer_constant(I32, 0x7FFF))
    shifted = writer.put("shl", I32, size, integer_constant(I32, 13))
    # The exponents differ in their bias by 127 - 15 = 112.
    scaled = writer.put("fmul", F32, writer.put("bitcast", F32, shifted), float_constant(F32, 2.0**112))
    special = writer.put("or", I32, shifted, integer_constant(I32, _EXPONENT))
    is_special = writer.compare("uge", size, integer_constant(I32, _INFINITE))
    found = writer.select(is_special, special, writer.put("bitcast", I32, scaled))
    return writer.put("bitcast", F32, writer.put("or", I32, found, sign))


def from_number(writer: Writer, value: Operand, source: ElementType) -> Operand:
    """Conversion of an element of another type to the nearest half, ties to even (IEEE 754-2019, section 4.3.1)."""
    if source == "f32":
        return _from_single(writer, value)
    if source == "f64":
        return _from_single(writer, _rounding_to_odd(writer, value))
    operation = "uitofp" if source in (*UNSIGNED, "bool") else "sitofp"
    # An integer of 32 bits is exact in a double, not in a single.
    return _from_single(writer, _rounding_to_odd(writer, writer.put(operation, F64, value)))


def _rounding_to_odd(writer: Writer, value: Operand) -> Operand:
    """Single of a double by rounding to odd (Boldo, Melquiond, 2008): the nearer one, made odd on the side of the
    number where it is not exact.
    """
    near = writer.put("fptrunc", F32, value)
    back = writer.put("fpext", F64, near)
    bits = writer.put("bitcast", I32, near)
    size, exact = writer.call("fabs", F64, value), writer.call("fabs", F64, back)
    beyond = writer.put("zext", I32, writer.compare("fogt", exact, size))
    below = writer.put("sub", I32, bits, beyond)  # towards zero
    inexact = writer.put("zext", I32, writer.compare("fone", exact, size))
    return writer.put("bitcast", F32, writer.put("or", I32, below, inexact))


def _from_single(writer: Writer, single: Operand) -> Operand:
    """Half of a single, rounded to nearest, ties to even."""
    bits = writer.put("bitcast", I32, single)
    sign = writer.put(
        "lshr", I32, writer.put("and", I32, bits, integer_constant(I32, _SIGN)), integer_constant(I32, 16)
    )
    size = writer.put("and", I32, bits, integer_constant(I32, ~_SIGN))
    # Subnormal halves: the sum with 0.5 is rounded where a half ends.
    sum = writer.put("fadd", F32, writer.put("bitcast", F32, size), float_constant(F32, 0.5))
    small = writer.put("sub", I32, writer.put("bitcast", I32, sum), integer_constant(I32, _HALF))
    # Normal ones: the carry of the rounding goes into the exponent.
    last = writer.put("and", I32, writer.put("lshr", I32, size, integer_constant(I32, 13)), integer_constant(I32, 1))
    moved = writer.put("add", I32, size, integer_constant(I32, 0xFFF - ((127 - 15) << 23)))
    normal = writer.put("lshr", I32, writer.put("add", I32, moved, last), integer_constant(I32, 13))
    found = writer.select(writer.compare("ult", size, integer_constant(I32, _NORMAL)), small, normal)
    # From 65520 on the next step would be 65536, which no half is: half of the way rounds to infinity.
    found = writer.select(
        writer.compare("uge", size, integer_constant(I32, _BEYOND)), integer_constant(I32, _INFINITE), found
    )
    is_nan = writer.compare("ugt", size, integer_constant(I32, _EXPONENT))
    # One quiet NaN stands for all: its payload would not fit.
    found = writer.select(is_nan, integer_constant(I32, 0x7E00), found)
    return writer.put("trunc", I16, writer.put("or", I32, found, sign))
