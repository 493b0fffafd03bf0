# SPDX-License-Identifier: Apache-2.0
"""Reference arithmetic of MVMUL in floating point, for large products in FP32: the integers of arithmetic.py, exactly,
in vector instructions of the host.

A product of mantissa parts has at most 12 bits, a group's sum 15, and what Dst aligns 29: all are exact in the formats
used here. Half away from zero is half to even of something a little larger (2**-20 of a product of 12 bits, 2**-40 of a
sum of 29). Source: docs/targets/tensix-matrix.md, "Arithmetic"; ISA documentation, page of `MVMUL`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from polyloom.targets.tensix.words.arrays import tiles

Array = NDArray[Any]
_GROUP: Final = 8
_STEP: Final = 16
_ELEMENTS: Final = 1 << 15
"""Of the result that are computed at once, so that intermediate arrays stay in caches."""
_SPREAD: Final = 60
"""Binades between a factor's datums whose products are normal numbers of FP32."""
_LOW, _HIGH = 24, 240
"""Exponents of products between which no sum of them underflows or overflows: the unit of a sum is 2**-23 of its
exponent's power, and is a normal number from here on."""
_UNITS: Final = 2.0**27
"""What the machine takes -1 unit for (docs/targets/tensix-matrix.md)."""


@dataclass(frozen=True, slots=True)
class Factor:
    """A factor: exponents of its datums, 0 for a zero, and by phase the signed parts of their mantissas."""

    exponent: Array
    parts: tuple[Array, ...]

    @property
    def range(self) -> tuple[int, int] | None:
        """Least and largest exponent of what is not zero; None where everything is."""
        some = self.exponent[self.exponent > 0]
        return (int(some.min()), int(some.max())) if some.size else None


def has_plain_exponents(left: Factor, right: Factor, bias: int, phases: int) -> bool:
    """Whether exponents are so near to one another that floating point is exact."""
    a, b = left.range, right.range
    if a is None or b is None:
        return False
    # The parts of later phases are 12 binades lower at most; a sum of n products is n times as large.
    low, high = a[0] + b[0] + bias - 12, a[1] + b[1] + bias + left.exponent.shape[1].bit_length()
    return phases > 0 and max(a[1] - a[0], b[1] - b[0]) <= _SPREAD and low >= _LOW and high <= _HIGH


def multiply_floats(left: Factor, right: Factor, bias: int) -> Array:
    """Patterns of Dst, FP32, of a product whose factors have plain exponents."""
    rows, columns = left.exponent.shape[0], right.exponent.shape[1]
    made = np.empty((rows, columns), np.float32)
    at_once = max(1, _ELEMENTS // columns)
    low, high = left.range, right.range
    assert low is not None and high is not None, "exponents were looked at"
    # Parts are scaled by the largest exponents of all, so that a product of two has that of its own datums.
    tops = low[1], high[1]
    scaled = _scaled_parts(right, tops[1])
    for first in range(0, rows, at_once):
        part = slice(first, first + at_once)
        some = Factor(left.exponent[part], tuple(each[part] for each in left.parts))
        made[part] = _multiply_rows(some, right.exponent, _scaled_parts(some, tops[0]), scaled, sum(tops), bias)
    return made.view(np.uint32).astype(np.int64)


def _scaled_parts(factor: Factor, top: int) -> list[Array]:
    """Parts of mantissas times powers of two, 1 for the largest exponent."""
    scale = np.exp2(np.maximum(factor.exponent.astype(np.float32) - top, -_SPREAD)).astype(np.float32)
    return [part.astype(np.float32) * scale for part in factor.parts]


def _multiply_rows(left: Factor, b: Array, lefts: list[Array], rights: list[Array], top: int, bias: int) -> Array:
    held = np.zeros((left.exponent.shape[0], b.shape[1]), np.float32)
    for tile in range(0, b.shape[0], tiles.SIDE):
        groups = range(tile, tile + tiles.SIDE, _GROUP)
        largest = [_largest_exponent(left.exponent, b, at) for at in groups]
        # A group of zeros has no exponent; its products are zero by any scale.
        scales = [_SCALES.take(np.clip(top - each, 0, len(_SCALES) - 1)) for each in largest]
        for phase, (one, other) in enumerate(zip(lefts, rights, strict=True)):
            lower = bias - 5 * (phase & 1) - 7 * (phase >> 1)
            sums = [_sum_group(one, other, at, scale) for at, scale in zip(groups, scales, strict=True)]
            # An MVMUL adds two groups to Dst at once; the order of MVMULs is that of the program.
            for n in range(0, len(sums), _STEP // _GROUP):
                pairs = [(largest[m] + lower, sums[m]) for m in (n, n + 1)]
                held = _accumulate(pairs, held)
    return held


_SCALES: Final = np.ldexp(np.float32(1 + 2.0**-20), np.arange(2 * _SPREAD + 1)).astype(np.float32)


def _largest_exponent(a: Array, b: Array, first: int) -> Array:
    found = np.full((a.shape[0], b.shape[1]), _NEVER, np.int32)
    for k in range(first, first + _GROUP):
        # Zeros have a sum of exponents below all others.
        np.maximum(found, np.where(a[:, k] > 0, a[:, k], _NEVER)[:, None] + np.where(b[k] > 0, b[k], _NEVER), out=found)
    return found


_NEVER: Final = -4096


def _sum_group(a: Array, b: Array, first: int, scale: Array) -> Array:
    """Sum of eight products, each aligned to the largest with half away from zero."""
    total, each = np.zeros(scale.shape, np.float32), np.empty(scale.shape, np.float32)
    for k in range(first, first + _GROUP):
        np.multiply(a[:, k, None], b[k], out=each)
        np.multiply(each, scale, out=each)
        np.rint(each, out=each)
        np.add(total, each, out=total)
    return total


def _accumulate(pairs: list[tuple[Array, Array]], held: Array) -> Array:
    """Two group sums and Dst, aligned to the largest exponent with half upward; rounded to 24 bits, half away."""
    own = (held.view(np.uint32) >> 23 & 255).astype(np.int32)
    exponent = np.maximum(np.maximum(own, pairs[0][0]), pairs[1][0])
    # FP32 of a number is its mantissa of 24 bits times 2**(exponent - 150).
    total = np.copysign(np.floor(np.abs(np.ldexp(held.astype(np.float64), 150 - exponent)) + 0.5), held)
    for largest, value in pairs:
        total += np.floor(np.ldexp(value.astype(np.float64), np.maximum(13 + largest - exponent, -60)) + 0.5)
    # Dst is rounded after each MVMUL, so that errors are those of the machine.
    total = np.where(total == -1, -_UNITS, total)
    return np.ldexp((total * (1 + 2.0**-40)).astype(np.float32), exponent - 150)
