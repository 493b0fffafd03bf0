# SPDX-License-Identifier: Apache-2.0
"""Units in the last place: the distance of two values of a format is how many values of the format lie between them.

A value's rank is its place in the format's ordered list: both zeros are one value, denormals of BF16 and FP32 are zero
(those of FP16 are values), infinity is one past the largest finite value, and NaN has no rank. Source of the notion:
Muller et al., Handbook of Floating-Point Arithmetic (2018), units in the last place; the formats are IEEE 754's and
BF16.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from polyloom.targets.tensix.options import Format

INTEGERS: Final[Format] = "uint32"
"""A format whose every pattern is a value."""
Bits = NDArray[np.uint32]
Floats = NDArray[np.float64]
_MANTISSA: Final[dict[Format, int]] = {"bf16": 7, "fp16": 10, "fp32": 23}
_EXPONENT: Final[dict[Format, int]] = {"bf16": 8, "fp16": 5, "fp32": 8}
_NAN: Final = np.iinfo(np.int64).min


def format_width(form: Format) -> int:
    """Bits of a value."""
    return 32 if form in ("fp32", INTEGERS) else 16


def finite_values(form: Format, stride: int = 1) -> Bits:
    """Patterns of finite values, ascending, positive ones before negative ones; every `stride`-th of each."""
    if form == INTEGERS:
        return np.arange(0, 1 << 32, stride, dtype=np.uint64).astype(np.uint32)
    positive = np.arange(0, _infinity(form), stride, dtype=np.uint32)
    return np.concatenate([positive, positive | np.uint32(1 << (format_width(form) - 1))])


def _infinity(form: Format) -> int:
    return ((1 << _EXPONENT[form]) - 1) << _MANTISSA[form]


def to_doubles(bits: Bits, form: Format) -> Floats:
    """Doubles of patterns, exactly."""
    if form == "fp16":
        return bits.astype(np.uint16).view(np.float16).astype(np.float64)
    if form == INTEGERS:
        return bits.astype(np.float64)
    whole = bits << 16 if form == "bf16" else bits
    with np.errstate(invalid="ignore"):
        return whole.astype(np.uint32).view(np.float32).astype(np.float64)


def encode_nearest(exact: Floats, form: Format) -> Bits:
    """Rounding to nearest even, from doubles in one step; integers saturate, and NaN becomes 0."""
    if form == INTEGERS:
        return np.clip(np.rint(np.nan_to_num(exact, nan=0.0)), 0, (1 << 32) - 1).astype(np.uint32)
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        if form == "fp16":
            return exact.astype(np.float16).view(np.uint16).astype(np.uint32)
        if form == "fp32":
            # NumPy's casts round to nearest even in one step (IEEE 754), as the format's rounding asks for.
            return exact.astype(np.float32).view(np.uint32).copy()
        return _to_bf16(exact)


def _to_bf16(exact: Floats) -> Bits:
    """Rounding to BF16 by way of a single that is rounded to odd, so that the second rounding sees what the first one
    dropped (Boldo and Melquiond 2008, double rounding by rounding to odd).
    """
    single = exact.astype(np.float32)
    bits = single.view(np.uint32).astype(np.int64)
    dropped = single.astype(np.float64)
    away = np.abs(dropped) > np.abs(exact)
    inexact = (dropped != exact) & np.isfinite(exact)
    # Towards zero, then the last bit set.
    odd = np.where(inexact, np.where(away, bits - 1, bits) | 1, bits)
    made = (odd + 0x7FFF + (odd >> 16 & 1)) >> 16
    return np.where(np.isnan(exact), 0x7FC0 | bits >> 16 & 0x8000, made).astype(np.uint32)


def ranks(bits: Bits, form: Format) -> NDArray[np.int64]:
    """Ranks of values in the format's ordered list; the least integer for NaN."""
    largest, sign = _infinity(form), 1 << (format_width(form) - 1)
    size = (bits & np.uint32(sign - 1)).astype(np.int64)
    # Denormals share the rank of zero, so the least normal value has rank 1.
    if form != "fp16":
        least = (1 << _MANTISSA[form]) - 1
        size = np.maximum(size - least, 0)
        largest -= least
    found = np.where(bits & np.uint32(sign), -size, size)
    return np.where(np.abs(found) > largest, _NAN, found)


@dataclass(frozen=True, slots=True)
class Distances:
    """Distances in ulp by value, −1 where one side is not finite and the other is or has another sign; these are
    `mismatches`.
    """

    ulp: NDArray[np.int64]
    mismatches: int


def distances(got: Bits, expected: Bits, form: Format) -> Distances:
    """Distances of results from expected values, in ulp."""
    if form == INTEGERS:
        return Distances(np.abs(got.astype(np.int64) - expected.astype(np.int64)), 0)
    a, b = ranks(got, form), ranks(expected, form)
    top = np.int64(_infinity(form) - (0 if form == "fp16" else (1 << _MANTISSA[form]) - 1))
    infinite = [np.abs(r) == top for r in (a, b)]
    missing = [r == _NAN for r in (a, b)]
    wrong = (missing[0] != missing[1]) | (infinite[0] != infinite[1]) | (infinite[0] & infinite[1] & (a != b))
    # Two NaNs agree, whatever their payloads are.
    both = missing[0] & missing[1]
    ulp = np.where(wrong, -1, np.where(both, 0, np.abs(a - np.where(both, a, b))))
    return Distances(ulp, int(np.count_nonzero(wrong)))


def histogram(found: Distances) -> list[tuple[int, int, int]]:
    """Histogram of distances: (least, most, how many values are that far off), in ranges of powers of two from 2 on;
    empty ones are left out.
    """
    ulp = found.ulp[found.ulp >= 0]
    made: list[tuple[int, int, int]] = []
    low = 0
    while low <= int(ulp.max(initial=0)):
        # 0 and 1 ulp have classes of their own, since they tell correct from faithful rounding.
        high = low if low < 2 else 2 * low - 1
        count = int(np.count_nonzero((ulp >= low) & (ulp <= high)))
        if count:
            made.append((low, high, count))
        low = high + 1
    return made


def to_tiles(bits: Bits, zero: int = 0) -> NDArray[Any]:
    """Tiles (n, 32, 32) of patterns, filled up with `zero`."""
    count = -(-len(bits) // 1024)
    whole = np.full(count * 1024, zero, np.uint32)
    whole[: len(bits)] = bits
    return whole.reshape(count, 32, 32)
