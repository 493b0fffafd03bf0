# SPDX-License-Identifier: Apache-2.0
"""Lookup tables of the vector unit, SFPLUT and SFPLUTFP32: piecewise linear functions, slope·|a| + offset, where |a|
says which.

Intervals are [0, 1), [1, 2) and the rest, NaN included; six intervals cut each in two, at 0.5, 1.5 and 3 or 4. Bit
patterns of magnitudes order as their floats do. Source: ISA documentation, page of `SFPLUT` and page of `SFPLUTFP32`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from polyloom.targets.tensix.source.oracle.multiply import multiply_add
from polyloom.targets.tensix.source.oracle.rounding import Words

_SIGN: Final = np.uint32(0x80000000)
_ONE, _TWO, _HALF, _THREE_HALVES = 0x3F800000, 0x40000000, 0x3F000000, 0x3FC00000
_LAST: Final = (0x40400000, 0x40800000)  # 3 and 4


def lookup_8_bits(entries: Sequence[Words], a: Words, mode: int, blackhole: bool) -> Words:
    """SFPLUT: a register has a slope in bits 15:8 and an offset in bits 7:0."""
    entry = _select_entry(a & ~_SIGN, entries)
    return _evaluate_line(_decode_8_bits(entry >> 8 & 255), _decode_8_bits(entry & 255), a, mode, blackhole)


def lookup_32_bits(entries: Sequence[Words], a: Words, mode: int, blackhole: bool) -> Words:
    """SFPLUTFP32 of three registers of slopes and, but in modes 10 and 14, three of offsets."""
    magnitude = a & ~_SIGN
    first = _select_entry(magnitude, entries[:3])
    if mode & 10 == 10:
        return _evaluate_line(_decode_16_bits(first >> 16), _decode_16_bits(first & 0xFFFF), a, mode, blackhole)
    second = _select_entry(magnitude, entries[3:])
    if mode & 2:
        first, second = (_select_part(magnitude, entry, _LAST[mode & 1]) for entry in (first, second))
    return _evaluate_line(first, second, a, mode, blackhole)


def _evaluate_line(slope: Words, offset: Words, a: Words, mode: int, blackhole: bool) -> Words:
    made = multiply_add(slope, a & ~_SIGN, offset, blackhole)
    return (made & ~_SIGN) | (a & _SIGN) if mode & 4 else made


def _select_entry(magnitude: Words, entries: Sequence[Words]) -> Words:
    return np.where(magnitude < _ONE, entries[0], np.where(magnitude < _TWO, entries[1], entries[2]))


def _select_part(magnitude: Words, entry: Words, last: int) -> Words:
    """Low half of an entry below the middle of the interval, else the high half."""
    cut = np.where(magnitude < _ONE, _HALF, np.where(magnitude < _TWO, _THREE_HALVES, last))
    return _decode_16_bits(np.where(magnitude < cut, entry & 0xFFFF, entry >> 16).astype(np.uint32))


def _decode_8_bits(v: Words) -> Words:
    made = (v & 128) << 24 | (127 - (v >> 4 & 7)) << 23 | (v & 15) << 19
    return np.where(v == 255, 0, made).astype(np.uint32)


def _decode_16_bits(v: Words) -> Words:
    """Value of 16 bits of an entry: there is neither zero nor a denormal; exponent 31 stands for zero (ISA
    documentation, page of `SFPLUTFP32`).
    """
    exponent = v >> 10 & 31
    return ((v & 0x8000) << 16 | np.where(exponent == 31, 0, exponent + 112) << 23 | (v & 0x3FF) << 13).astype(
        np.uint32
    )
