# SPDX-License-Identifier: Apache-2.0
"""The formats that `--format` names: what operands are in L1 and in Src, and what Dst and results are with them.

Numbers become datums to nearest even, and go beyond the largest to the largest. TF32 lies in L1 as FP32; the unpacker
cuts it to 10 bits of mantissa. Results have the format of Dst: FP32 or INT32 of 32 bits, BF16 or FP16 of 16.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from polyloom.ir.operations import ElementType

Array = NDArray[Any]
Name = Literal["tf32", "bf16", "fp16", "i8"]
Dest = Literal[16, 32]
FP32, FP16, TF32, BF16, INT32, INT8 = 0, 1, 4, 5, 8, 14
"""Codes of data formats in the configuration."""


@dataclass(frozen=True, slots=True)
class Format:
    """`in_l1` and `in_src` are codes; `width` is a datum's bytes in L1, `held` those that an address in Src counts."""

    name: Name
    element: ElementType
    in_l1: int
    in_src: int
    width: int
    held: int
    encode: Callable[[Array], Array]
    """Numbers to datums."""


@dataclass(frozen=True, slots=True)
class Result:
    """`code` is the format of the packer, in L1 and before; `decode` makes numbers of datums, `encode` datums of
    numbers."""

    code: int
    width: int
    decode: Callable[[Array], Array]
    encode: Callable[[Array], Array]


def of_f32(values: Array) -> Array:
    """FP32: the bits."""
    return np.ascontiguousarray(values, np.float32).view(np.uint32)


def of_bf16(values: Array) -> Array:
    """BF16, to nearest even; NaN and what is too large become infinite, as on the tile there is no NaN."""
    bits = of_f32(values).astype(np.uint64)
    rounded = (bits + 0x7FFF + (bits >> 16 & 1)) >> 16
    large = (rounded & 0x7FFF) > 0x7F80
    return np.where(large, rounded & 0x8000 | 0x7F80, rounded).astype(np.uint16)


def of_fp16(values: Array) -> Array:
    """FP16, to nearest even; the largest exponent is one as all others, so that numbers go up to 131008."""
    single = np.ascontiguousarray(values, np.float32)
    size = np.abs(single.astype(np.float64))
    with np.errstate(over="ignore", invalid="ignore"):
        plain = size.astype(np.float16).view(np.uint16).astype(np.uint32)
        halved = (size / 2).astype(np.float16).view(np.uint16).astype(np.uint32) + 0x400
    bits = np.where(size < 65520, plain, np.where(size / 2 < 65504, halved, 0x7FFF)).clip(0, 0x7FFF)
    return (bits | np.signbit(single).astype(np.uint32) << 15).astype(np.uint16)


def of_i8(values: Array) -> Array:
    """Sign and magnitude of 7 bits."""
    wide = np.asarray(values).astype(np.int64)
    return (np.abs(wide) | np.where(wide < 0, 0x80, 0)).astype(np.uint8)


def of_i32(values: Array) -> Array:
    """Sign and magnitude of 31 bits."""
    wide = np.asarray(values).astype(np.int64)
    return (np.minimum(np.abs(wide), 0x7FFFFFFF) | np.where(wide < 0, 1 << 31, 0)).astype(np.uint32)


def to_f32(bits: Array) -> Array:
    return np.ascontiguousarray(bits, np.uint32).view(np.float32)


def to_bf16(bits: Array) -> Array:
    return (bits.astype(np.uint32) << 16).view(np.float32)


def to_fp16(bits: Array) -> Array:
    """As the tile reads it: no infinities."""
    x = bits.astype(np.int64)
    exponent, mantissa = x >> 10 & 31, x & 0x3FF
    size = np.where(
        exponent > 0, np.ldexp(1.0 + mantissa / 1024, (exponent - 15).astype(np.int32)), mantissa * 2.0**-24
    )
    return np.where(x >> 15 & 1, -size, size).astype(np.float32)


def to_i32(bits: Array) -> Array:
    """Of sign and magnitude."""
    x = bits.astype(np.int64)
    return np.where(x >> 31 & 1, -(x & 0x7FFFFFFF), x).astype(np.int32)


FORMATS: Final[dict[Name, Format]] = {
    "tf32": Format("tf32", "f32", FP32, TF32, 4, 4, of_f32),
    "bf16": Format("bf16", "f32", BF16, BF16, 2, 2, of_bf16),
    "fp16": Format("fp16", "f32", FP16, FP16, 2, 2, of_fp16),
    "i8": Format("i8", "i32", INT8, INT8, 1, 1, of_i8),
}


def _ties_away(bits: Array, kept: int) -> Array:
    """Of FP32, mantissas rounded as the packers do: denormals become zero, NaN infinite."""
    cut, size = 23 - kept, bits.astype(np.int64) & 0x7FFFFFFF
    rounded = np.minimum(size, 0x7F800000) + (1 << (cut - 1)) >> cut << cut
    return np.where(rounded < 0x800000, 0, bits.astype(np.int64) & 1 << 31 | rounded)


def narrow(bits: Array, name: Name) -> Array:
    """Datums of 16 bits of a Dst of 32, as the packers make them: BF16 at once, FP16 by way of TF32."""
    if name == "bf16":
        return (_ties_away(bits, 7) >> 16).astype(np.uint16)
    x = _ties_away(bits, 10)
    exponent, sign = (x >> 23 & 255) - 112, x >> 16 & 0x8000
    size = np.where(exponent > 31, 0x7FFF, np.where(exponent < 0, 0, exponent << 10 | x >> 13 & 0x3FF))
    return (sign | size).astype(np.uint16)


def result_of(name: Name, dest: Dest) -> Result:
    """What a tile of Dst is."""
    if name == "i8":
        return Result(INT32, 4, to_i32, of_i32)
    if dest == 32:
        return Result(FP32, 4, to_f32, of_f32)
    return Result(FP16, 2, to_fp16, of_fp16) if name == "fp16" else Result(BF16, 2, to_bf16, of_bf16)


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """What a program computes in: the format of factors, bits of Dst, fidelity phases; and the bits of Dst whose format
    sums have in L1."""

    format: Name
    dest: Dest
    fidelity: int
    stored: Dest

    @property
    def factors(self) -> Format:
        return FORMATS[self.format]

    @property
    def accumulated(self) -> Result:
        """What a sum is in Dst."""
        return result_of(self.format, self.dest)

    @property
    def sums(self) -> Result:
        """What a sum is in L1, where later stages read it."""
        return result_of(self.format, self.stored)
