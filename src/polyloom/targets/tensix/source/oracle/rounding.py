# SPDX-License-Identifier: Apache-2.0
"""Conversions of the vector unit over arrays of patterns: SFPCAST and SFP_STOCH_RND.

SFPCAST rounds to nearest, ties to even; SFP_STOCH_RND compares what is dropped, aligned to 23 bits, with a half (ties
away from zero), with 23 random bits, or, toward zero, with more than it can be. Source: ISA documentation, page of
`SFPCAST` and page of `SFPSTOCHRND`.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.integer[Any]]
"""Arrays of uint32, in fact: the types of NumPy say of their arithmetic with Python's numbers that it is signed."""
Numbers = NDArray[np.int64]

SIGN: Final = 0x80000000
FRACTION: Final = 0x7FFFFF
NEAREST, STOCHASTIC, TO_ZERO = 0, 1, 2


def bit_length(value: Numbers) -> Numbers:
    """Bit length of numbers below 2^53, as `int.bit_length`: the exponent of a double is exact there."""
    return np.frexp(value.astype(np.float64))[1].astype(np.int64)


def wrap_32(value: Numbers) -> Words:
    """Numbers modulo 2^32."""
    return (value & 0xFFFFFFFF).astype(np.uint32)


def cast_to_float(value: Words, random: Words | None) -> Words:
    """SFPCAST of sign and magnitude to float: of 31 bits 24 stay, to nearest even, or up with a chance where numbers
    are given (ISA documentation, page of `SFPCAST`).
    """
    wide = value.astype(np.int64)
    magnitude, sign = wide & ~SIGN, wide & SIGN
    normal = magnitude << (32 - bit_length(magnitude))  # the highest bit is bit 31
    exponent = 157 - 32 + bit_length(magnitude)
    # The hidden bit of the mantissa adds one to the exponent, which is one too small for that.
    made = (exponent << 23) + (normal >> 8)
    if random is None:
        dropped = normal & 0xFF
        made = made + ((dropped > 0x80) | ((dropped == 0x80) & (normal >> 8 & 1 == 1)))
    else:
        made = made + ((normal & 0xFE) > (random.astype(np.int64) >> 9 & 0xFE))
    return wrap_32(sign + np.where(magnitude == 0, 0, made))


def magnitude(value: Words) -> Words:
    """Magnitude of two's complement; the least integer stays."""
    return np.where(value >> 31, ~value + np.uint32(1), value).astype(np.uint32)


def cast(value: Words, mode: int, random: Words | None) -> Words:
    """SFPCAST by mode; modes 2 and 3, integer magnitude and sign-magnitude, are Blackhole's."""
    if mode < 2:
        return cast_to_float(value, random if mode else None)
    return magnitude(value) if mode == 2 else (value & np.uint32(SIGN)) | magnitude(value)


def stochastic_rounding(value: Words, descale: Words, mode: int, rounding: int, random: Words) -> Words:
    """SFP_STOCH_RND; `mode` without its bit 3: `descale` is by how much integers are shifted right (ISA documentation,
    page of `SFPSTOCHRND`).
    """
    wide = value.astype(np.int64)
    if rounding == STOCHASTIC:
        threshold = random.astype(np.int64) & FRACTION
    else:
        threshold = np.full_like(wide, 0x400000 if rounding == NEAREST else FRACTION + 1)
    if mode < 2:
        return wrap_32(_narrow_mantissa(wide, threshold, 7 if mode else 10))
    signed = bool(mode & 1)
    sign = wide & SIGN if signed else np.zeros_like(wide)
    if mode in (4, 5):
        scaled = ((wide & ~SIGN) << 23) >> (descale.astype(np.int64) & 31)
        return _nearest_integer(sign, scaled, threshold, 127 if signed else 255)
    most = (0xFFFF if mode & 4 else 0xFF) >> signed
    exponent = (wide >> 23 & 255) - 127
    scaled = ((wide & FRACTION) | FRACTION + 1) << np.clip(exponent, 0, 16)
    # Numbers from a half to one still round up; smaller ones are zero below.
    scaled = np.where(exponent < 0, scaled >> 1, scaled)
    made = _nearest_integer(sign, scaled, threshold, most)
    made = np.where(exponent >= 16, wrap_32(sign | most), made)
    return np.where(exponent < -1, np.uint32(0), made)


def _narrow_mantissa(wide: Numbers, threshold: Numbers, kept: int) -> Numbers:
    """Float with `kept` bits of mantissa: denormals become +0, NaNs infinite."""
    exponent = wide >> 23 & 255
    dropped = wide & (FRACTION >> kept)
    made = wide - dropped + (((dropped << kept) >= threshold).astype(np.int64) << (23 - kept))
    return np.where(exponent == 0, 0, np.where(exponent == 255, wide & ~FRACTION, made))


def _nearest_integer(sign: Numbers, scaled: Numbers, threshold: Numbers, most: int) -> Words:
    """Integer of a magnitude with 23 bits behind its point, saturating; zero has no sign."""
    made = np.minimum((scaled >> 23) + ((scaled & FRACTION) >= threshold), most)
    return wrap_32(np.where(made == 0, 0, sign | made))
