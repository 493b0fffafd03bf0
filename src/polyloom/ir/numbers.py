# SPDX-License-Identifier: Apache-2.0
"""Number formats of the element types: their ranges, their rounding (IEEE 754, section 4.3.1: to nearest, ties to
even), their NumPy types.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from polyloom.ir.operations import INTEGERS, ElementType

NUMPY: dict[ElementType, np.dtype[Any]] = {
    "i8": np.dtype("i1"),
    "i16": np.dtype("<i2"),
    "i32": np.dtype("<i4"),
    "f32": np.dtype("<f4"),
    "u8": np.dtype("u1"),
    "u16": np.dtype("<u2"),
    "u32": np.dtype("<u4"),
    "bool": np.dtype("?"),
    "f64": np.dtype("<f8"),
    "f16": np.dtype("<f2"),
}
WIDTH: dict[ElementType, int] = {t: 8 * kind.itemsize for t, kind in NUMPY.items()}
"""Bits in memory."""


def make_element(value: int, dtype: ElementType) -> Any:
    """An integer as an element of `dtype`: wrapped, or rounded once to a float."""
    # `astype` wraps; a constructor of NumPy raises an error out of range.
    return np.int64(value).astype(NUMPY[dtype])


def type_limits(dtype: ElementType) -> tuple[int, int] | None:
    """The least and the greatest element of an integer type or of bool; None of the others."""
    if dtype == "bool":
        return 0, 1
    if dtype not in INTEGERS:
        return None
    found = np.iinfo(NUMPY[dtype])
    return int(found.min), int(found.max)


def element_constant(value: int | float, dtype: ElementType) -> int | float | None:
    """Constant of an element type: `value` as an element of `dtype`, floats rounded to nearest; None when it is out of
    range or not an integer.
    """
    if dtype == "f32":
        return to_single_precision(value)
    if dtype == "f16":
        return to_half_precision(value)
    bounds = type_limits(dtype)
    if bounds is None:
        return to_double_precision(value)
    # A float is no integer constant, even one without a fraction.
    return value if isinstance(value, int) and bounds[0] <= value <= bounds[1] else None


def is_constant(value: int | float, dtype: ElementType) -> bool:
    """Whether `value` is an element of `dtype`, as it is; a NaN is one of floats."""
    found = element_constant(value, dtype)
    return found is not None and (found == value or (math.isnan(found) and math.isnan(value)))


_EXPONENTS: Final[Mapping[ElementType, int]] = {"f32": 126, "f64": 1022}
"""Exponents up to which a power of two and its reciprocal are both normal numbers (IEEE 754, section 3.4)."""


def exact_reciprocal(value: int | float, dtype: ElementType) -> float | None:
    """Reciprocal of a power of two, for strength reduction (Muller et al. 2018, section 4.7): product and quotient are
    one real number then, which both operations round alike, so that bits are equal, of subnormal results and of
    infinities, too. None where the reciprocal is not exact, or one of the two no normal number.
    """
    # The fraction is in [1/2, 1), so that the power of two is one less than the exponent.
    fraction, exponent = math.frexp(value)
    if abs(fraction) != 0.5 or abs(exponent - 1) > _EXPONENTS.get(dtype, -1):
        return None
    return 1.0 / value


def to_double_precision(value: int | float) -> float | None:
    """Rounded once to f64; None for an integer beyond its range."""
    try:
        return float(value)
    except OverflowError:
        return None


def to_single_precision(value: int | float) -> float | None:
    """Rounded once to f32; None for a finite number beyond its range."""
    return _round_to_format(value, "<f")


def to_half_precision(value: int | float) -> float | None:
    """Rounded once to f16; None for a finite number beyond its range."""
    return _round_to_format(value, "<e")


def _round_to_format(value: int | float, format: str) -> float | None:
    try:
        # struct rounds to nearest, ties to even, and raises one of two errors beyond the range: of floats, and of
        # integers.
        return struct.unpack(format, struct.pack(format, value))[0]
    except (OverflowError, struct.error):
        return float(value) if isinstance(value, float) and math.isinf(value) else None
