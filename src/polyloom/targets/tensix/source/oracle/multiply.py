# SPDX-License-Identifier: Apache-2.0
"""Fused multiply-add: x·y + z as both members of the vector unit compute it, over arrays of exact integers, step by
step as the vendor's simulator (ttsim, 2026) has it: one rounding, three more bits of the product and what is lost
beyond, denormals flushed. The native model works on halves and masks. Specification: ISA documentation, page of
`SFPMAD`; docs/targets/tensix.md.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.integer[Any]]
Numbers = NDArray[np.int64]
Truths = NDArray[np.bool_]

SIGN, INFINITE = 0x80000000, 0x7F800000


def _unpack(word: Words) -> tuple[Numbers, Numbers, Numbers]:
    """Sign bit, exponent and mantissa with its hidden bit; a denormal has none."""
    wide = word.astype(np.int64)
    exponent = wide >> 23 & 255
    return wide & SIGN, exponent, np.where(exponent == 0, 0, (wide & 0x7FFFFF) | 0x800000)


def _shift_sticky(value: Numbers, by: Numbers) -> Numbers:
    """Right shift with a sticky bit: lost bits leave the lowest bit set, unless nothing but them was there."""
    by = np.minimum(by, 62)
    kept = value >> by
    return np.where((kept != 0) & (kept << by != value), kept | 1, kept)


def _bit_lengths(value: Numbers) -> Numbers:
    """Numbers of bits, as `int.bit_length`; exact, since all values are below 2^53."""
    return np.frexp(value.astype(np.float64))[1].astype(np.int64)


def _pack_nearest(kept: Numbers, exponent: Numbers) -> Numbers:
    """Rounding to nearest even by the three lowest bits; a carry moves into the exponent."""
    packed = (exponent << 23) + (kept >> 3 & 0x7FFFFF)
    rest = kept & 7
    return packed + ((rest > 4) | ((rest == 4) & (packed & 1 == 1)))


def multiply_add(x: Words, y: Words, z: Words, blackhole: bool) -> NDArray[np.uint32]:
    """SFPMAD of both members: x·y + z, denormals as zero, on Wormhole without a sign of zero (ISA documentation, page
    of `SFPMAD`).
    """
    x_sign, x_exponent, x_mantissa = _unpack(x)
    y_sign, y_exponent, y_mantissa = _unpack(y)
    z_sign, z_exponent, z_mantissa = _unpack(z)
    sign = x_sign ^ y_sign
    whole = x_mantissa * y_mantissa
    # 48 bits of product keep 24, three more, and the rest as one sticky bit.
    product = (whole >> 20) | (whole & 0xFFFFF != 0)
    exponent = x_exponent + y_exponent - 127

    def is_nan(e: Numbers, m: Numbers) -> Truths:
        return (e == 255) & (m != 0x800000)

    factor_infinite = (x_exponent == 255) | (y_exponent == 255)
    no_product = is_nan(x_exponent, x_mantissa) | is_nan(y_exponent, y_mantissa)
    no_product |= (x_exponent == 255) & (y_mantissa == 0) | (y_exponent == 255) & (x_mantissa == 0)
    large = factor_infinite | (exponent >= 255)
    z_infinite = (z_exponent == 255) & (z_mantissa == 0x800000)
    z_nan = is_nan(z_exponent, z_mantissa)
    cancels = z_infinite & (factor_infinite if blackhole else large) & (sign != z_sign)
    nan = no_product | cancels | z_nan
    mark = np.where(no_product | cancels, sign, z_sign) | INFINITE | 1

    exponent = np.minimum(exponent, 255)
    nothing = (product == 0) | (exponent < 0)
    product, exponent = np.where(nothing, 0, product), np.where(nothing, 0, exponent)

    # Both addends are aligned to the larger exponent.
    top = np.maximum(exponent, z_exponent)
    p, c = _shift_sticky(product, top - exponent), _shift_sticky(z_mantissa << 3, top - z_exponent)
    total = np.where(sign == z_sign, p + c, np.abs(p - c))
    total_sign = np.where(p >= c, sign, z_sign)
    over = _bit_lengths(total) - 27
    at = top + over
    low = at <= 0
    if blackhole:
        over, at = over + low, np.where(low, 0, at)
    right = np.maximum(over, 0)
    # Wormhole looks at the lowest bit only when it normalizes to the right; Blackhole at all lost bits.
    lost = total & ((1 << right) - 1 if blackhole else right > 0)
    kept = np.where(over > 0, (total >> right) | (lost != 0), total << np.maximum(-over, 0))
    packed = _pack_nearest(kept, np.maximum(at, 0))
    vanishes = (total == 0) | (packed >> 23 == 0) | (np.zeros_like(low) if blackhole else at < 0)
    zero_sign = sign & z_sign

    if blackhole:
        result = np.where(vanishes, np.where(total == 0, zero_sign, total_sign), total_sign | packed)
        result = np.where((at >= 255) & (total != 0), total_sign | INFINITE, result)
        result = np.where(nothing, np.where(z_mantissa != 0, z.astype(np.int64), zero_sign), result)
    else:
        result = np.where(vanishes, 0, total_sign | packed)
        result = np.where((at >= 255) & (total != 0), total_sign | INFINITE, result)
        result = np.where(nothing, np.where(z_mantissa != 0, z.astype(np.int64), 0), result)
    result = np.where(large | z_infinite, np.where(z_infinite, z.astype(np.int64), sign | INFINITE), result)
    # A NaN of Wormhole keeps bits of what the adder made of the mantissas.
    leaked = np.where(vanishes | (at >= 255), mark, mark | packed)
    result = np.where(nan, 0x7FC00000 if blackhole else leaked, result)
    return result.astype(np.uint32)
