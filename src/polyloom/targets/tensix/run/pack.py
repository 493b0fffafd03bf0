# SPDX-License-Identifier: Apache-2.0
"""Unpack and pack conversions of numbers on their way into Dst and out of it, over arrays, apart from the model.

Into Dst a value goes as it is, also into 32 bits. Out of it, packers round to nearest with ties away to the mantissa of
an intermediate format, flush denormals and minus zero to zero, and make NaN infinite; then they truncate. From 32 bits,
FP16 goes by way of TF32. FP32 leaves as it is. Source: ISA documentation, page of `PACR` and page of `UNPACR`, format
conversion.
"""

from __future__ import annotations

import numpy as np

from polyloom.targets.tensix.options import Format
from polyloom.targets.tensix.run.ulp import INTEGERS, Bits
from polyloom.targets.tensix.words.arrays.elements import ELEMENTS
from polyloom.targets.tensix.words.arrays.formats import pack_to_16_bits


def unpack_values(bits: Bits, form: Format, dest: int) -> Bits:
    """Patterns in Dst of values in L1, in the format of `dst_format`."""
    if dest == 16 or form in ("fp32", INTEGERS):
        return bits
    if form == "bf16":
        return bits << np.uint32(16)
    return ELEMENTS["fp16"].load(bits)


def dst_format(form: Format, dest: int) -> Format:
    """Format in Dst of values of a format."""
    return "fp32" if dest == 32 and form != INTEGERS else form


def pack_values(bits: Bits, form: Format, dest: int) -> Bits:
    """Patterns in L1 of values in Dst."""
    if form in ("fp32", INTEGERS):
        return bits
    if dest == 32:
        return pack_to_16_bits(bits, form).astype(np.uint32)
    # BF16 is the upper half of FP32, so the conversion from 32 bits flushes and rounds alike.
    if form == "bf16":
        return pack_to_16_bits(bits << np.uint32(16), form).astype(np.uint32)
    # Denormals of FP16, and -0, become +0.
    return np.where(bits & np.uint32(0x7FFF) < 0x400, np.uint32(0), bits)
