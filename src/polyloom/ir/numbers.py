# SPDX-License-Identifier: Apache-2.0
"""Values of the element types: their ranges, their rounding, their NumPy types."""

from __future__ import annotations

import math
import struct
from typing import Any

import numpy as np

from polyloom.ir.operations import ElementType

NUMPY: dict[ElementType, np.dtype[Any]] = {
    "i8": np.dtype("i1"),
    "i16": np.dtype("<i2"),
    "i32": np.dtype("<i4"),
    "f32": np.dtype("<f4"),
    "u8": np.dtype("u1"),
    "f16": np.dtype("<f2"),
}
WIDTH: dict[ElementType, int] = {"i8": 8, "i16": 16, "i32": 32, "f32": 32, "u8": 8, "f16": 16}


def element(value: int, dtype: ElementType) -> Any:
    """An integer as an element of `dtype`: wrapped, or rounded once to f32."""
    return np.int64(value).astype(NUMPY[dtype])


def constant_in(value: int | float, dtype: ElementType) -> int | float | None:
    """`value` as an element of `dtype`, f32 rounded to nearest; None when it is out of range or not an integer."""
    if dtype == "f32":
        return single(value)
    if dtype == "f16":
        return half(value)
    if dtype == "u8":
        return value if isinstance(value, int) and 0 <= value < 256 else None
    limit = 1 << (WIDTH[dtype] - 1)
    return value if isinstance(value, int) and -limit <= value < limit else None


def single(value: int | float) -> float | None:
    """Rounded once to f32; None for a finite number beyond its range."""
    try:
        return struct.unpack("<f", struct.pack("<f", value))[0]
    except OverflowError:
        return float(value) if isinstance(value, float) and math.isinf(value) else None


def half(value: int | float) -> float | None:
    """Rounded once to f16; None for a finite number beyond its range."""
    try:
        return struct.unpack("<e", struct.pack("<e", value))[0]
    except OverflowError:
        return float(value) if isinstance(value, float) and math.isinf(value) else None
