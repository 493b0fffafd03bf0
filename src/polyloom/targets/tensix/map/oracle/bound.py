# SPDX-License-Identifier: Apache-2.0
"""Error bound of a product on the tile against the exact one, from format and fidelity; distance of results in ulp.

What the tile reads of a factor that is an input is known, and what the phases leave out of it: both enter with their
sign. Of a factor that the tile has computed it is known within that one's error and the format's rounding. Each product
is aligned to the largest exponent of its group of eight, half a unit of 2**-10 of it for all but the largest; later
phases have 2**-5, 2**-7 and 2**-12 of that. Each MVMUL aligns two sums and Dst, and rounds its result: by the exponents
of the sums so far, three half units of FP32 and one of Dst's mantissa. Last comes what the program itself rounds.
Method: running error analysis (Higham, Accuracy and Stability of Numerical Algorithms, 2002, section 3.3).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from polyloom.targets.tensix.options import Dest
from polyloom.targets.tensix.words.arrays import tiles
from polyloom.targets.tensix.words.arrays.formats import FP16, Format, Result

Array = NDArray[Any]
_GROUP: Final = 8
_STEP: Final = 16
"""Of k in one MVMUL."""
_ROUNDING: Final = {"tf32": 2.0**-10, "bf16": 2.0**-8, "fp16": 2.0**-11}
"""Of an operand, relative: TF32 by cutting off, the others to nearest."""
_LEAST: Final = {"tf32": 2.0**-126, "bf16": 2.0**-126, "fp16": 2.0**-14}
"""Below this, operands are zero."""
_LEFT_BITS, _RIGHT_BITS = (7, 11), (5, 10)
"""Bits of a mantissa, the hidden one included, that the first part of a factor has, and both: of the left factor, which
is in SrcB, and of the right one, in SrcA, of which no phase reads the last bit."""
_PHASES: Final = ((1.0, 0, 0), (2.0**-5, 0, 1), (2.0**-7, 1, 0), (2.0**-12, 1, 1))
"""By phase: the unit of its products, and the parts of the left and the right factor that it reads."""
_NEVER: Final = -4096
"""An exponent below all others: that of a zero."""
_BIAS: Final = 1023
"""Of exponents of doubles."""
_ELEMENTS: Final = 1 << 15
"""Of the result whose errors are computed at once, so that intermediate arrays stay in caches."""


@dataclass(frozen=True, slots=True)
class Factor:
    """A factor of a product: values, and by how much the tile's and the program's may miss these and each other."""

    value: Array
    error: Array


@dataclass(frozen=True, slots=True)
class _Read:
    """What the tile reads of a factor: both parts that phases read, their sum as far as phases read it, by how much
    that may be missed, and the exponent of the largest number that it may be.
    """

    parts: tuple[Array, Array]
    middle: Array
    radius: Array
    exponent: Array

    def rows(self, part: slice) -> _Read:
        """Rows of a left factor."""
        first, second = self.parts
        return _Read((first[part], second[part]), self.middle[part], self.radius[part], self.exponent[part])


def product_bound(left: Factor, right: Factor, f: Format, dest: Dest, fidelity: int) -> Array:
    """Bound for each element, by how much it may differ from the program's. Of i8: 0 at fidelity 4."""
    a, b = left.value.astype(np.float64), right.value.astype(np.float64)
    large_a, large_b = np.abs(a) + left.error, np.abs(b) + right.error
    if f.name == "i8":
        return _integer_bound(large_a, large_b, fidelity)
    total = large_a @ large_b
    x = _read_factor(left, f, _LEFT_BITS, whole=fidelity > 2)
    y = _read_factor(right, f, _RIGHT_BITS, whole=fidelity > 1)
    read = x.middle @ y.middle
    if fidelity == 3:  # the only phase that is left out is that of both second parts
        read -= x.parts[1] @ y.parts[1]
    big_x, big_y = np.maximum(large_a, np.abs(x.middle)), np.maximum(large_b, np.abs(y.middle))
    apart = big_x @ y.radius + x.radius @ (big_y + y.radius)
    steps = fidelity * tiles.tile_count(a.shape[1]) * tiles.SIDE // _STEP
    # Products and results that vanish, and what the program rounds.
    small = _LEAST[f.name] * (fidelity * a.shape[1] + steps) + a.shape[1] * 2.0**-24 * total
    bits = 24 if dest == 32 else 11 if f.name == "fp16" else 8
    error = np.abs(read - a @ b) + apart + small + _accumulation_error(x, y, fidelity, bits, apart)
    # Beyond the largest number there is no exponent.
    return np.where(np.isfinite(total), error, total)


def _read_factor(factor: Factor, f: Format, bits: tuple[int, int], *, whole: bool) -> _Read:
    value, error = factor.value.astype(np.float64), factor.error
    low, high = (_source_values(value + side, f) for side in (-error, error))
    slack = (np.abs(value) + error) * _ROUNDING[f.name] + _LEAST[f.name]
    # A number beyond the format is no rounding, and is not allowed for.
    is_known = (low == high) & (np.abs(low - value) <= slack + error)
    middle = np.where(is_known, low, value)
    first = _cut_mantissa(middle, bits[0])
    parts = first, _cut_mantissa(middle, bits[1]) - first
    seen = _cut_mantissa(middle, bits[whole])
    left_out = (np.abs(value) + slack) * 2.0 ** (1 - bits[whole])
    radius = error + np.where(is_known, 0, slack + left_out)
    largest = np.maximum(np.abs(middle), np.abs(value) + np.where(is_known, 0, error + slack))
    return _Read(parts, np.where(is_known, seen, value), radius, _exponents(largest))


def _source_values(values: Array, f: Format) -> Array:
    """Numbers as they stand in Src: encoded, TF32 cut off, denormals zero (ISA documentation, page of `SrcA`)."""
    datums = f.encode(values)
    if f.name == "fp16":
        made = datums.view(np.float16).astype(np.float64)
    else:
        bits = datums & np.uint32(0xFFFFE000) if f.name == "tf32" else datums.astype(np.uint32) << 16
        made = bits.view(np.float32).astype(np.float64)
    return np.where(np.abs(made) < _LEAST[f.name], 0, made)


def _cut_mantissa(values: Array, bits: int) -> Array:
    """Numbers with so many bits of mantissa, the hidden one included."""
    mantissa, exponent = np.frexp(values)
    return np.ldexp(np.trunc(np.ldexp(mantissa, bits)), exponent - bits)


def _exponents(values: Array) -> Array:
    return np.where(values > 0, np.frexp(values)[1] - 1, _NEVER).astype(np.int16)


def _accumulation_error(x: _Read, y: _Read, fidelity: int, bits: int, apart: Array) -> Array:
    """What alignment of products and sums and rounding of Dst miss, in the order of the program; the sums may be
    `apart` from those of what is read.
    """
    error = np.zeros(apart.shape)
    rows = max(1, _ELEMENTS // max(1, apart.shape[1]))
    for first in range(0, len(error), rows):
        part = slice(first, first + rows)
        _add_row_errors(error[part], x.rows(part), y, fidelity, bits, 2 * apart[part])
    return error


def _add_row_errors(error: Array, x: _Read, y: _Read, fidelity: int, bits: int, around: Array) -> None:
    """Running error of rows of the result, whose sums may be `around` from what is read."""
    held, before, after, each, size = (np.zeros(error.shape) for _ in range(5))
    aligning, half = 3 * 2.0**-24 + (0 if bits == 24 else 3 * 2.0**-11), 2.0**-bits
    depth = x.middle.shape[1]
    for tile in range(0, depth, tiles.SIDE):
        steps = [slice(k, min(k + _STEP, depth)) for k in range(tile, min(tile + tiles.SIDE, depth), _STEP)]
        groups = [_group_exponents(x, y, at) for at in steps]
        for unit, of_left, of_right in _PHASES[:fidelity]:
            for at, (missed, largest) in zip(steps, groups, strict=True):
                error += np.multiply(missed, unit, out=each)
                held += np.matmul(x.parts[of_left][:, at], y.parts[of_right][at], out=each)
                np.abs(held, out=after)
                # The largest of the sum before, of the sum behind, and of the groups.
                np.maximum(before, after, out=size)
                size += np.add(error, around, out=each)
                np.maximum(size, np.multiply(largest, unit, out=each), out=size)
                error += np.multiply(size, aligning, out=size)
                np.add(after, error, out=size)
                size += around
                error += np.multiply(_binades(size), half, out=size)
                before, after = after, before


def _group_exponents(x: _Read, y: _Read, of: slice) -> tuple[Array, Array]:
    """What alignment in the two groups of an MVMUL misses in the first phase, for every element, and the power of two
    of their largest exponent.
    """
    missed = largest = np.zeros(())
    for first in range(of.start, of.stop, _GROUP):
        places = range(first, min(first + _GROUP, of.stop))
        found = x.exponent[:, first, None] + y.exponent[first]
        for k in places[1:]:
            np.maximum(found, x.exponent[:, k, None] + y.exponent[k], out=found)
        power = (np.maximum(found + _BIAS, 0).astype(np.int64) << 52).view(np.float64)
        missed, largest = missed + (len(places) - 1) * 2.0**-11 * power, np.maximum(largest, power)
    return missed, largest


def _binades(values: Array) -> Array:
    """Binades, as powers of two, of numbers that are not negative, in their place: the mantissa bits are cleared."""
    bits = values.view(np.int64)
    bits &= -1 << 52
    return values


def _integer_bound(a: Array, b: Array, fidelity: int) -> Array:
    """Bound of i8 products: what no phase multiplies, the low 4 bits of the left factor, the low 5 of the right one, or
    both.
    """
    low_a, low_b = np.minimum(a, 15), np.minimum(b, 31)
    missing = {1: low_a @ b + a @ low_b, 2: low_a @ b, 3: low_a @ low_b}
    return missing.get(fidelity, np.zeros((len(a), b.shape[1])))


def ulp_distance(expected: Array, got: Array, result: Result) -> Array:
    """Distance in units of the last place of the result's format: steps in the ordered list of its values, in which
    denormals and both zeros are one.
    """
    if expected.dtype.kind != "f":
        return np.abs(expected.astype(np.int64) - got.astype(np.int64))
    return np.abs(_format_rank(expected, result) - _format_rank(got, result))


def _format_rank(values: Array, result: Result) -> Array:
    bits = result.encode(values).astype(np.int64)
    sign, least = (31, 1 << 23) if result.width == 4 else (15, 1 << 10 if result.code == FP16 else 1 << 7)
    # All denormals are rank 0, since the tile flushes them.
    size = np.maximum((bits & (1 << sign) - 1) - least + 1, 0)
    return np.where(bits >> sign & 1, -size, size)
