# SPDX-License-Identifier: Apache-2.0
"""Number formats of `--format`: operands in L1 and Src, and the accumulators and results that go with them.

Numbers are rounded to nearest even, and saturate at the largest magnitude. TF32 lies in L1 as FP32; the unpacker
truncates it to 10 bits of mantissa. Results have the format of Dst: FP32 or INT32 of 32 bits, BF16 or FP16 of 16. Codes
and conversions: ISA documentation, pages of the unpackers and of the packers, "Format conversion";
docs/targets/tensix.md.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from polyloom.ir.operations import ElementType
from polyloom.targets.tensix.options import Dest, Name

Array = NDArray[Any]
FP32, FP16, TF32, BF16, INT32, INT8 = 0, 1, 4, 5, 8, 14
"""Codes of data formats in the configuration."""


@dataclass(frozen=True, slots=True)
class Format:
    """A factor format. `in_l1` and `in_src` are format codes; `width` is a datum's bytes in L1, `held` those that an
    address in Src counts.
    """

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
    """Format of a result. `code` is the packer's format, in L1 and before; `decode` makes numbers of datums, `encode`
    datums of numbers.
    """

    code: int
    width: int
    decode: Callable[[Array], Array]
    encode: Callable[[Array], Array]


def encode_f32(values: Array) -> Array:
    """FP32 encoding: the bits of the number."""
    return np.ascontiguousarray(values, np.float32).view(np.uint32)


def encode_bf16(values: Array) -> Array:
    """BF16 encoding, to nearest even; NaN and overflow become infinite, since the tile's matrix unit has no NaN."""
    bits = encode_f32(values).astype(np.uint64)
    # Round to nearest even by adding half an ulp less one plus the last kept bit (Hacker's Delight, rounding by
    # addition).
    rounded = (bits + 0x7FFF + (bits >> 16 & 1)) >> 16
    large = (rounded & 0x7FFF) > 0x7F80
    return np.where(large, rounded & 0x8000 | 0x7F80, rounded).astype(np.uint16)


def encode_fp16(values: Array) -> Array:
    """FP16 encoding, to nearest even. The largest exponent is an ordinary one on the tile, so numbers go up to 131008
    (ISA documentation, page of `SFPLOAD`: no infinity unless LaneConfig enables it).
    """
    single = np.ascontiguousarray(values, np.float32)
    size = np.abs(single.astype(np.float64))
    with np.errstate(over="ignore", invalid="ignore"):
        plain = size.astype(np.float16).view(np.uint16).astype(np.uint32)
        # Numbers of the highest exponent are rounded at half their size, where NumPy's FP16 still has them, and one
        # exponent is added.
        halved = (size / 2).astype(np.float16).view(np.uint16).astype(np.uint32) + 0x400
    bits = np.where(size < 65520, plain, np.where(size / 2 < 65504, halved, 0x7FFF)).clip(0, 0x7FFF)
    return (bits | np.signbit(single).astype(np.uint32) << 15).astype(np.uint16)


def encode_i8(values: Array) -> Array:
    """Sign and magnitude of 7 bits."""
    wide = np.asarray(values).astype(np.int64)
    return (np.abs(wide) | np.where(wide < 0, 0x80, 0)).astype(np.uint8)


def encode_i32(values: Array) -> Array:
    """Sign and magnitude of 31 bits, saturating."""
    wide = np.asarray(values).astype(np.int64)
    return (np.minimum(np.abs(wide), 0x7FFFFFFF) | np.where(wide < 0, 1 << 31, 0)).astype(np.uint32)


def to_f32(bits: Array) -> Array:
    return np.ascontiguousarray(bits, np.uint32).view(np.float32)


def to_bf16(bits: Array) -> Array:
    return (bits.astype(np.uint32) << 16).view(np.float32)


def to_fp16(bits: Array) -> Array:
    """FP16 decoding as the tile reads it: exponent 31 is a number like the others, there are no infinities."""
    x = bits.astype(np.int64)
    exponent, mantissa = x >> 10 & 31, x & 0x3FF
    size = np.where(
        exponent > 0, np.ldexp(1.0 + mantissa / 1024, (exponent - 15).astype(np.int32)), mantissa * 2.0**-24
    )
    return np.where(x >> 15 & 1, -size, size).astype(np.float32)


def to_i32(bits: Array) -> Array:
    """Two's complement of sign and magnitude."""
    x = bits.astype(np.int64)
    return np.where(x >> 31 & 1, -(x & 0x7FFFFFFF), x).astype(np.int32)


FORMATS: Final[dict[Name, Format]] = {
    "tf32": Format("tf32", "f32", FP32, TF32, 4, 4, encode_f32),
    "bf16": Format("bf16", "f32", BF16, BF16, 2, 2, encode_bf16),
    "fp16": Format("fp16", "f32", FP16, FP16, 2, 2, encode_fp16),
    "i8": Format("i8", "i32", INT8, INT8, 1, 1, encode_i8),
}


def _ties_away_rounding(bits: Array, kept: int) -> Array:
    """Rounding of FP32 mantissas to `kept` bits, to nearest with ties away from zero, as the packers' early conversion
    does; denormals become zero, NaN infinite (ISA documentation, page of `PACR`).
    """
    cut, size = 23 - kept, bits.astype(np.int64) & 0x7FFFFFFF
    # NaN patterns are clamped to infinity first: their payload would carry into the sign.
    rounded = np.minimum(size, 0x7F800000) + (1 << (cut - 1)) >> cut << cut
    return np.where(rounded < 0x800000, 0, bits.astype(np.int64) & 1 << 31 | rounded)


def pack_to_16_bits(bits: Array, name: str) -> Array:
    """Packer conversion of a 32-bit Dst to datums of 16 bits: BF16 in one rounding, FP16 by way of TF32 (ISA
    documentation, page of `PACR`: early and late conversion).
    """
    if name == "bf16":
        return (_ties_away_rounding(bits, 7) >> 16).astype(np.uint16)
    # Both FP16 and TF32 have 10 bits of mantissa, so the second step rounds nothing but clips the exponent.
    x = _ties_away_rounding(bits, 10)
    exponent, sign = (x >> 23 & 255) - 112, x >> 16 & 0x8000
    size = np.where(exponent > 31, 0x7FFF, np.where(exponent < 0, 0, exponent << 10 | x >> 13 & 0x3FF))
    return (sign | size).astype(np.uint16)


def dst_result_format(name: Name, dest: Dest) -> Result:
    """Format of a tile of Dst, by factor format and bits of Dst."""
    if name == "i8":
        return Result(INT32, 4, to_i32, encode_i32)
    if dest == 32:
        return Result(FP32, 4, to_f32, encode_f32)
    return Result(FP16, 2, to_fp16, encode_fp16) if name == "fp16" else Result(BF16, 2, to_bf16, encode_bf16)


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """Arithmetic of a program: factor format, bits of Dst, fidelity phases (1 to 4), and the bits of Dst whose format
    sums have in L1.
    """

    format: Name
    dest: Dest
    fidelity: int
    stored: Dest

    @property
    def factors(self) -> Format:
        return FORMATS[self.format]

    @property
    def accumulated(self) -> Result:
        """Format of a sum in Dst."""
        return dst_result_format(self.format, self.dest)

    @property
    def sums(self) -> Result:
        """Format of a sum in L1, where later stages read it."""
        return dst_result_format(self.format, self.stored)
