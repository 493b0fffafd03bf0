# SPDX-License-Identifier: Apache-2.0
"""The matrix unit's arithmetic over exact integers, apart from the model.

A product is aligned to its group's largest exponent with half away from zero, a group's signed sum and Dst to the
largest of theirs, sums with half towards plus infinity. Everything is an array of int64 over operand sets; Src bits are
in the order of the hardware, results are patterns of sign, 8 bits of exponent and 23 of mantissa (FP16: 5 of 8).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Style = Literal["bf16", "tf32", "fp16"]


@dataclass(frozen=True, slots=True)
class Mode:
    style: Style
    wide: bool
    """Dst of 32 bits."""
    phase: int = 0

    @property
    def bias(self) -> int:
        own = (97 if self.wide else -15) if self.style == "fp16" else -127
        return own - 5 * (self.phase & 1) - 7 * (self.phase >> 1)


@dataclass(frozen=True, slots=True)
class Source:
    negative: NDArray[np.bool_]
    exponent: Ints
    mantissa: Ints


@dataclass(frozen=True, slots=True)
class Sum:
    exponent: Ints
    value: Ints
    """Signed."""


def source(bits: NDArray[np.uint32], style: Style) -> Source:
    x = bits.astype(np.int64)
    mantissa = x >> 8 & (0x3F8 if style == "bf16" else 0x3FF)
    return Source(x >> 18 == 1, x & (31 if style == "fp16" else 255), mantissa)


def part_a(mantissa: Ints, phase: int) -> Ints:
    return (mantissa >> 1) % 32 if phase % 2 else 16 + (mantissa >> 6)


def part_b(mantissa: Ints, phase: int) -> Ints:
    return mantissa % 16 * 8 if phase >= 2 else 64 + (mantissa >> 4)


def group(a: Source, b: Source, mode: Mode) -> Sum:
    """The sum of products along the last axis."""
    something = (a.exponent > 0) & (b.exponent > 0)
    exponent = np.where(something, a.exponent + b.exponent + mode.bias, max(mode.bias, 0))
    size = np.where(something, part_a(a.mantissa, mode.phase) * part_b(b.mantissa, mode.phase), 0)
    largest = exponent.max(axis=-1)
    away = np.minimum(largest[..., None] - exponent, 40)
    size = (2 * size + (1 << away)) >> (away + 1)
    sign: Ints = np.where(a.negative ^ b.negative, -1, 1)
    value = np.einsum("...k,...k", sign, size.astype(np.int64))
    return Sum(np.maximum(largest, 0), np.where(largest > 0, value << 13, 0))


def product(a: Source, b: Source, mode: Mode) -> Sum:
    exponent = a.exponent + b.exponent + mode.bias
    something = (a.exponent > 0) & (b.exponent > 0) & (exponent > 0)
    size = part_a(a.mantissa, mode.phase) * part_b(b.mantissa, mode.phase) << 13
    value = np.where(a.negative ^ b.negative, -size, size)
    return Sum(np.where(something, exponent, max(mode.bias, 0)), np.where(something, value, 0))


def total(a: Source, b: Source, mode: Mode, subtract: bool) -> Sum:
    """SrcA plus or minus SrcB, of 11 bits each."""
    size_a = np.where(a.exponent > 0, 1024 + a.mantissa, 0)
    size_b = np.where(b.exponent > 0, 1024 + b.mantissa, 0)
    exponent = np.maximum(a.exponent, b.exponent)

    def aligned(x: Source, size: Ints) -> Ints:
        away = np.minimum(exponent - x.exponent, 40)
        return np.where(away > 0, (size + (1 << np.maximum(away - 1, 0))) >> away, size)

    signed_a = np.where(a.negative, -1, 1) * aligned(a, size_a)
    signed_b = np.where(b.negative ^ subtract, -1, 1) * aligned(b, size_b)
    if mode.style == "fp16" and mode.wide:
        exponent = np.where(exponent > 0, exponent + 112, 97)
    return Sum(exponent, (signed_a + signed_b) << 13)


def _up(value: Ints, away: Ints) -> Ints:
    """A signed value shifted down, half towards plus infinity."""
    away = np.minimum(away, 40)
    return np.where(away > 0, (value + (1 << np.maximum(away - 1, 0))) >> away, value)


def accumulate(sums: list[Sum], dst: NDArray[np.uint32], mode: Mode) -> Ints:
    held = dst.astype(np.int64)
    own = held >> 23 & 255
    size = np.where(own > 0, 1 << 23 | held & 0x7FFFFF, 0)
    exponent = np.maximum.reduce([own, *(s.exponent for s in sums)])
    values = [_up(s.value, exponent - s.exponent) for s in sums]
    size = _up(size, exponent - own)
    if not mode.wide:
        values = [(v + 4096) >> 13 << 13 for v in values]
        size = (size + 4096) >> 13 << 13
    signed = sum(values, np.where(held >> 31 == 1, -size, size))
    return np.where((exponent > 0) & (signed != 0), _encoded(signed, exponent, mode), 0)


def _encoded(signed: Ints, exponent: Ints, mode: Mode) -> Ints:
    size = np.maximum(abs(signed), 1)
    length = np.frexp(size.astype(np.float64))[1].astype(np.int64)
    kept = 24 if mode.wide else 11 if mode.style == "fp16" else 8
    exponent = exponent + length - 24
    bug = (signed == -1) & mode.wide
    exponent = np.where(bug, exponent + 27, exponent)
    cut = np.where(bug, 4, length - kept)
    down = (size + (1 << np.maximum(cut - 1, 0))) >> np.maximum(cut, 0)
    mantissa = np.where(cut > 0, down, size << np.maximum(-cut, 0)) << (24 - kept)
    exponent = exponent + (mantissa >> 24)
    narrow = mode.style == "fp16" and not mode.wide
    end, infinite = (32, 31 << 23 | 0x3FF << 13) if narrow else (255, 255 << 23)
    value = np.where(exponent >= end, infinite, exponent << 23 | mantissa & 0x7FFFFF)
    return np.where(exponent > 0, np.where(signed < 0, 1 << 31, 0) | value, 0)


def integers(bits: NDArray[np.uint32], mask: int = 1023) -> Ints:
    x = bits.astype(np.int64)
    return np.where(x & 255, np.where(x >> 18 == 1, -1, 1) * (x >> 8 & mask), 0)


def saturated(x: Ints) -> Ints:
    return np.clip(x, -(2**31 - 1), 2**31 - 1)
