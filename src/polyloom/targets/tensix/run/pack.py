# SPDX-License-Identifier: Apache-2.0
"""What unpackers and packers do to numbers on their way into Dst and out of it, over arrays, apart from the model.

Into Dst a value goes as it is, also into 32 bits. Out of it, packers round to nearest with ties away to the mantissa of
an intermediate format, flush denormals and minus zero to zero, and make NaN infinite; then they truncate. From 32 bits,
FP16 goes by way of TF32. FP32 leaves as it is.
"""

from __future__ import annotations

import numpy as np

from polyloom.targets.tensix.options import Format
from polyloom.targets.tensix.run.ulp import INTEGERS, Bits

_SIGN, _INFINITE = np.uint32(0x80000000), np.uint32(0x7F800000)


def unpacked(bits: Bits, form: Format, dest: int) -> Bits:
    """The pattern that Dst holds, in the format of `dst_format`."""
    if dest == 16 or form in ("fp32", INTEGERS):
        return bits
    if form == "bf16":
        return bits << np.uint32(16)
    exponent = bits >> np.uint32(10) & np.uint32(31)
    wide = np.where(exponent > 0, exponent + np.uint32(112), 0).astype(np.uint32)
    return (
        (bits & np.uint32(0x8000)) << np.uint32(16) | wide << np.uint32(23) | (bits & np.uint32(0x3FF)) << np.uint32(13)
    )


def dst_format(form: Format, dest: int) -> Format:
    """What Dst holds of values of a format."""
    return "fp32" if dest == 32 and form != INTEGERS else form


def packed(bits: Bits, form: Format, dest: int) -> Bits:
    """The pattern in L1 of what Dst holds."""
    if form in ("fp32", INTEGERS):
        return bits
    if dest == 16:
        return _early(bits << np.uint32(16), 7) >> np.uint32(16) if form == "bf16" else _early_half(bits)
    if form == "bf16":
        return _early(bits, 7) >> np.uint32(16)
    return _late_half(_early(bits, 10))


def _early(bits: Bits, kept: int) -> Bits:
    """To so many bits of mantissa; patterns of FP32."""
    cut = np.uint32(23 - kept)
    x = np.where(bits & ~_SIGN > _INFINITE, bits & _SIGN | _INFINITE, bits).astype(np.uint64)
    x = (x + (1 << int(cut) - 1)) >> np.uint64(cut) << np.uint64(cut)
    made = (x & np.uint64(0xFFFFFFFF)).astype(np.uint32)
    return np.where(made & ~_SIGN < 0x800000, np.uint32(0), made)


def _early_half(bits: Bits) -> Bits:
    return np.where(bits & np.uint32(0x7FFF) < 0x400, np.uint32(0), bits)


def _late_half(bits: Bits) -> Bits:
    """Truncated and saturated; exponents below 0 give zero."""
    sign = bits >> np.uint32(16) & np.uint32(0x8000)
    exponent = (bits >> np.uint32(23) & np.uint32(255)).astype(np.int64) - 112
    normal = (np.clip(exponent, 0, 31).astype(np.uint32) << np.uint32(10)) | (bits >> np.uint32(13) & np.uint32(0x3FF))
    size = np.where(exponent < 0, 0, np.where(exponent > 31, 0x7FFF, normal)).astype(np.uint32)
    return sign | size
