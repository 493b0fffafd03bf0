# SPDX-License-Identifier: Apache-2.0
"""Element formats of element-wise programs: datums in L1 and Dst, and how vector loads and stores convert them.

FP32 and INT32 go through a Dst of 32 bits unchanged (integers as sign and magnitude). BF16 and FP16 go through one of
16 bits, where a store truncates mantissas and the packer turns -0 into 0. Source: ISA documentation, page of `SFPLOAD`
and page of `SFPSTORE`, modes 1, 2, 3 and 12.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from polyloom.ir.operations import ElementType
from polyloom.targets.tensix.options import Name
from polyloom.targets.tensix.words.arrays import formats
from polyloom.targets.tensix.words.arrays.formats import BF16, FP16, FP32, INT32

Array = NDArray[Any]


@dataclass(frozen=True, slots=True)
class Elements:
    """An element format. `code` is the data format's code in the configuration, `mode` that of SFPLOAD and SFPSTORE;
    `rounding` and `least` are the relative and absolute error of a datum, `storing` is the relative error of a result.
    """

    element: ElementType
    code: int
    width: int
    mode: int
    encode: Callable[[Array], Array]
    decode: Callable[[Array], Array]
    load: Callable[[Array], Array]
    store: Callable[[Array], Array]
    rounding: float
    storing: float
    least: float

    @property
    def packed(self) -> formats.Result:
        return formats.Result(self.code, self.width, self.decode, self.encode)


def _load_bf16(datums: Array) -> Array:
    return datums.astype(np.uint32) << 16


def _store_bf16(bits: Array) -> Array:
    """Truncation to BF16; denormals become +0, as the packer flushes them (ISA documentation, page of `SFPSTORE`, mode
    2).
    """
    return (np.where(bits & 0x7F800000, bits, 0) >> 16).astype(np.uint16)


def _load_fp16(datums: Array) -> Array:
    """FP16 to FP32 by rebiasing the exponent by 112. A zero exponent stays zero, so denormals become tiny FP32
    denormals (ISA documentation, page of `SFPLOAD`, mode 1).
    """
    x = datums.astype(np.uint32)
    exponent = x >> 10 & 31
    wide = np.where(exponent > 0, exponent + 112, 0).astype(np.uint32)
    return (x & 0x8000) << 16 | wide << 23 | (x & 0x3FF) << 13


def _store_fp16(bits: Array) -> Array:
    """FP32 to FP16 by truncation; underflow gives a signed zero, overflow the largest magnitude 0x7FFF (ISA
    documentation, page of `SFPSTORE`, mode 1).
    """
    x = bits.astype(np.int64)
    exponent, sign = (x >> 23 & 255) - 112, x >> 16 & 0x8000
    size = np.where(exponent > 31, 0x7FFF, np.where(exponent <= 0, 0, exponent << 10 | x >> 13 & 0x3FF))
    # Below the least normal number the packer leaves +0: neither denormals nor -0 reach L1.
    return np.where(size < 0x400, 0, sign | size).astype(np.uint16)


def _load_i32(datums: Array) -> Array:
    """Sign and magnitude to two's complement (ISA documentation, page of `SFPLOAD`, mode 12)."""
    return formats.to_i32(datums).view(np.uint32)


def _store_i32(bits: Array) -> Array:
    """Two's complement to sign and magnitude (ISA documentation, page of `SFPSTORE`, mode 12)."""
    x = bits.view(np.int32).astype(np.int64)
    return (np.where(x < 0, 1 << 31, 0) | (np.abs(x) & 0x7FFFFFFF)).astype(np.uint32)


def _identity(bits: Array) -> Array:
    return bits


ELEMENTS: Final[dict[str, Elements]] = {
    "fp32": Elements(
        "f32", FP32, 4, 3, formats.encode_f32, formats.to_f32, _identity, _identity, 0.0, 0.0, 2.0**-126
    ),
    "bf16": Elements(
        "f32", BF16, 2, 2, formats.encode_bf16, formats.to_bf16, _load_bf16, _store_bf16, 2.0**-8, 2.0**-7, 2.0**-126
    ),
    "fp16": Elements(
        "f32", FP16, 2, 1, formats.encode_fp16, formats.to_fp16, _load_fp16, _store_fp16, 2.0**-11, 2.0**-10, 2.0**-14
    ),
    "i32": Elements("i32", INT32, 4, 12, formats.encode_i32, formats.to_i32, _load_i32, _store_i32, 0.0, 0.0, 0.0),
}  # fmt: skip


_OF_FORMAT: Final[dict[Name, str]] = {"tf32": "fp32", "bf16": "bf16", "fp16": "fp16", "i8": "i32"}


def element_format_name(format: Name) -> str:
    """Name of the element format that formulas work in beside products of a factor format."""
    return _OF_FORMAT[format]


def to_vectors(array: Array) -> Array:
    """Rows of 32 lanes, zero-padded to a whole number of vectors."""
    flat = array.ravel()
    return np.pad(flat, (0, -len(flat) % 32)).reshape(-1, 32)
