# SPDX-License-Identifier: Apache-2.0
"""Reference arithmetic of MVMUL: what MVMULs in the order of product.py compute, bit by bit, over exact integers in
NumPy, apart from the model.

Of each pair of tiles along k, in each fidelity phase, come the first and the second 16 of k; each 16 are two groups of
eight. A product has 5 bits of SrcA's mantissa (the right factor's) and 7 of SrcB's (the left factor's), is aligned to
the largest exponent of its group with half away from zero, and sums are aligned to each other and to Dst with half
towards plus infinity. Source: docs/targets/tensix-matrix.md, "Arithmetic"; ISA documentation, page of `MVMUL`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from polyloom.targets.tensix.map.oracle.float_products import Factor, has_plain_exponents, multiply_floats
from polyloom.targets.tensix.options import Dest
from polyloom.targets.tensix.words.arrays import tiles
from polyloom.targets.tensix.words.arrays.formats import Format

Array = NDArray[Any]
_GROUP: Final = 8
_STEP: Final = 16
"""Of k in one MVMUL."""
_ELEMENTS: Final = 1 << 17
"""Of the result that are computed at once, so that intermediate arrays stay in caches."""
_NEVER: Final = -4096
"""An exponent that never is the largest: that of a zero."""
_BIAS: Final = 127
_LARGEST: Final = 2**31 - 1


@dataclass(frozen=True, slots=True)
class _Part:
    """Part of datums of Src: signs (1 or -1), exponents, and a part of their mantissas (0 where the datum is zero)."""

    sign: Array
    exponent: Array
    mantissa: Array


@dataclass(frozen=True, slots=True)
class _Rounding:
    """Rounding of results: bits of significand, the first exponent that is too large, and the pattern that stands for
    it.
    """

    bits: int
    end: int
    over: int


def multiply_tiles(left: Array, right: Array, f: Format, dest: Dest, fidelity: int) -> Array:
    """Product of matrices of datums as they lie in L1: datums of the result, as they are packed."""
    rows, columns = left.shape[0], right.shape[1]
    a, b = tiles.pad_to_tiles(left), tiles.pad_to_tiles(right)
    if f.name == "i8":
        return _multiply_integers(a, b, fidelity)[:rows, :columns]
    made = np.zeros((a.shape[0], b.shape[1]), np.int64)
    if not made.size:
        return _pack_patterns(made[:rows, :columns], f, dest)
    if dest == 32 and f.name != "fp16":
        factors = _float_factor(a, f, fidelity, of_left=True), _float_factor(b, f, fidelity, of_left=False)
        if has_plain_exponents(*factors, -_BIAS, fidelity):
            return _pack_patterns(multiply_floats(*factors, -_BIAS)[:rows, :columns], f, dest)
    # Intermediate arrays have one more dimension, the 16 of k.
    at_once = max(1, _ELEMENTS // (b.shape[1] * _STEP))
    for first in range(0, rows, at_once):
        made[first : first + at_once] = _multiply_rows(a[first : first + at_once], b, f, dest, fidelity)
    return _pack_patterns(made[:rows, :columns], f, dest)


def _float_factor(datums: Array, f: Format, fidelity: int, *, of_left: bool) -> Factor:
    """Factor as float_products.py takes it."""
    shift = 2 if of_left else 1
    found = [_mantissa_part(_src_datums(datums, f), False, bool(n & shift), of_left=of_left) for n in range(fidelity)]
    return Factor(np.maximum(found[0].exponent, 0), tuple(part.sign * part.mantissa for part in found))


def _multiply_rows(a: Array, b: Array, f: Format, dest: Dest, fidelity: int) -> Array:
    """Rows of Dst: patterns of sign, 8 bits of exponent, 23 of mantissa."""
    narrow = f.name == "fp16"
    rounding = _rounding(narrow, dest)
    lefts = [_mantissa_part(_src_datums(a, f), narrow, bool(phase & 2), of_left=True) for phase in range(fidelity)]
    rights = [_mantissa_part(_src_datums(b, f), narrow, bool(phase & 1), of_left=False) for phase in range(fidelity)]
    held = np.zeros((a.shape[0], b.shape[1]), np.int64)
    for tile in range(0, a.shape[1], tiles.SIDE):
        for phase in range(fidelity):
            bias = (97 if dest == 32 else -15) if narrow else -_BIAS
            # A phase's low part of a mantissa lies 5 bits lower in SrcA, 7 bits lower in SrcB.
            bias -= 5 * (phase & 1) + 7 * (phase >> 1)
            for first in range(tile, tile + tiles.SIDE, _STEP):
                sums = [_sum_group(lefts[phase], rights[phase], at, bias) for at in range(first, first + _STEP, _GROUP)]
                held = _accumulate(sums, held, rounding)
    return held


def _rounding(narrow: bool, dest: Dest) -> _Rounding:
    if dest == 32:
        return _Rounding(24, 255, 255 << 23)
    return _Rounding(11, 32, 31 << 23 | 0x3FF << 13) if narrow else _Rounding(8, 255, 255 << 23)


def _src_datums(datums: Array, f: Format) -> Array:
    """Datums as in Src, in the usual order: sign, exponent, 10 bits of mantissa (ISA documentation, page of `SrcA` and
    `SrcB`).
    """
    x = datums.astype(np.int64)
    return x >> 13 if f.name == "tf32" else x << 3 if f.name == "bf16" else x


def _mantissa_part(x: Array, narrow: bool, low: bool, *, of_left: bool) -> _Part:
    """Mantissa part of a fidelity phase: of the left factor the hidden bit and 6 more, or the next 4; of the right one
    the hidden bit and 4 more, or the next 5 (ISA documentation, page of `MVMUL`, fidelity phases).
    """
    exponent = x >> 10 & (31 if narrow else 255)
    mantissa = x & 0x3FF
    if of_left:
        part = mantissa % 16 * 8 if low else 64 + (mantissa >> 4)
    else:
        part = mantissa // 2 % 32 if low else 16 + (mantissa >> 6)
    negative = x >> (15 if narrow else 18) & 1
    some = exponent > 0
    sign = (1 - 2 * negative).astype(np.int32)
    return _Part(sign, np.where(some, exponent, _NEVER).astype(np.int32), np.where(some, part, 0).astype(np.int32))


def _sum_group(a: _Part, b: _Part, first: int, bias: int) -> tuple[Array, Array]:
    """Sum of eight products for every element of the result: the largest exponent, and the sum in units 2**-23 of
    it."""
    of_a = (slice(None), None, slice(first, first + _GROUP))
    of_b = (None, slice(None), slice(first, first + _GROUP))
    exponent = a.exponent[of_a] + b.exponent.T[of_b] + np.int32(bias)
    # The alignment is never below the bias: a group of zeros has an exponent, too.
    largest = np.maximum(exponent.max(axis=2), max(bias, 0))
    # A product has at most 12 bits: shifted by 14 with half away from zero it is 0, as by any more.
    away = np.minimum(largest[:, :, None] - exponent, 14)
    signed = (a.sign * a.mantissa)[of_a] * (b.sign * b.mantissa).T[of_b]
    size = (2 * np.abs(signed) + (np.int32(1) << away)) >> (away + 1)
    value = (np.sign(signed) * size).sum(axis=2)
    return largest.astype(np.int64), np.where(largest > 0, value, 0).astype(np.int64) << 13


def _shift_half_upward(value: Array, away: Array) -> Array:
    """Right shift that rounds half towards plus infinity."""
    by = np.minimum(away, 40)
    return (value + (np.left_shift(1, by) >> 1)) >> by


def _accumulate(sums: list[tuple[Array, Array]], held: Array, rounding: _Rounding) -> Array:
    """Accumulation of two group sums into Dst, all aligned to the largest exponent."""
    own = held >> 23 & 255
    size = np.where(own > 0, 1 << 23 | held & 0x7FFFFF, 0)
    exponent = np.maximum.reduce([own, *(largest for largest, _ in sums)])
    values = [_shift_half_upward(value, exponent - largest) for largest, value in sums]
    size = _shift_half_upward(size, exponent - own)
    # A 16-bit Dst keeps 11 bits of the sums and of itself before they are added.
    if rounding.bits < 24:
        values = [(value + 4096) >> 13 << 13 for value in values]
        size = (size + 4096) >> 13 << 13
    total = np.where(held >> 31 & 1, -size, size) + values[0] + values[1]
    return np.where((exponent > 0) & (total != 0), _rounded_pattern(total, exponent, rounding), 0)


def _rounded_pattern(total: Array, exponent: Array, rounding: _Rounding) -> Array:
    """Pattern of a total, rounded with half away from zero."""
    size = np.maximum(np.abs(total), 1)
    length = np.frexp(size.astype(np.float64))[1].astype(np.int64)
    # The machine takes -1 unit for something 2**27 times as large (docs/targets/tensix-matrix.md).
    bug = (total == -1) & (rounding.bits == 24)
    exponent = exponent + length - 24 + np.where(bug, 27, 0)
    cut = np.where(bug, 4, length - rounding.bits)
    down = (size + (np.left_shift(1, np.maximum(cut, 0)) >> 1)) >> np.maximum(cut, 0)
    mantissa = np.where(cut > 0, down, size << np.maximum(-cut, 0)) << (24 - rounding.bits)
    exponent = exponent + (mantissa >> 24)
    value = np.where(exponent >= rounding.end, rounding.over, exponent << 23 | mantissa & 0x7FFFFF)
    return np.where(exponent > 0, np.where(total < 0, 1 << 31, 0) | value, 0)


def _pack_patterns(patterns: Array, f: Format, dest: Dest) -> Array:
    # Patterns are those of FP32, which is what a 32-bit Dst holds and the packer writes.
    if dest == 32:
        return patterns.astype(np.uint32)
    if f.name == "fp16":
        # The exponent has 5 bits, in the low ones of the pattern's 8; the packer makes zero of denormals.
        bits = patterns >> 13 & 0x7FFF
        return np.where(bits < 0x400, 0, patterns >> 16 & 0x8000 | bits).astype(np.uint16)
    return (patterns >> 16).astype(np.uint16)


def _multiply_integers(a: Array, b: Array, fidelity: int) -> Array:
    """Product of i8: sign and magnitude of 31 bits; sums saturate after each MVMUL (ISA documentation, page of `MVMUL`,
    integer modes).
    """
    total = np.zeros((a.shape[0], b.shape[1]), np.int64)
    masked: dict[tuple[bool, int], Array] = {}
    for x, of_left in ((a, True), (b, False)):
        for phase in range(fidelity):
            low = phase & (2 if of_left else 1)
            # Phases select parts of the magnitudes, as they select parts of mantissas.
            mask = (0xF if low else 0x3F0) if of_left else (0x1F if low else 0xE0)
            magnitude = x.astype(np.int64) & 0x7F & mask
            masked[of_left, phase] = np.where(x & 0x80, -magnitude, magnitude)
    for tile in range(0, a.shape[1], tiles.SIDE):
        for phase in range(fidelity):
            for first in range(tile, tile + tiles.SIDE, _STEP):
                at = slice(first, first + _STEP)
                total += masked[True, phase][:, at] @ masked[False, phase][at]
                # The machine saturates after each MVMUL, so that the order of sums matters.
                np.clip(total, -_LARGEST, _LARGEST, out=total)
    return (np.abs(total) | np.where(total < 0, 1 << 31, 0)).astype(np.uint32)
