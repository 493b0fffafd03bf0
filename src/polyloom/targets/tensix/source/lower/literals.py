# SPDX-License-Identifier: Apache-2.0
"""Materialization of literals in all lanes: from a constant register, by one SFPLOADI, or by two.

SFPLOADI widens 16 bits: as BF16 to the upper half, as FP16 by moving the exponent, unsigned, or signed. Its FP16 knows
neither denormals nor infinities, so that what it loads is exact just where the exponent is one of 112 to 143. Source:
ISA documentation, page of `SFPLOADI`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

BF16, FP16, UNSIGNED, SIGNED, HIGH_HALF = 0, 1, 2, 4, 8
"""Modes of SFPLOADI; HIGH_HALF keeps the low one."""
_REBIAS: Final = 112
_LOST: Final = 0x1FFF
"""The bits of a mantissa that FP16 does not have."""


def literal_loads(bits: int) -> Sequence[tuple[int, int]]:
    """Modes and immediates of one SFPLOADI, or of two, that load the bits."""
    low, high = bits & 0xFFFF, bits >> 16 & 0xFFFF
    # The order of trials decides the form of literals that several modes can load; listings depend on it.
    if low == 0:
        return ((BF16, high),)
    if (half := _fp16_immediate(bits)) is not None:
        return ((FP16, half),)
    if high == 0:
        # The unsigned form clears the high half, which the second instruction fills.
        return ((UNSIGNED, low),)
    if high == 0xFFFF and low >> 15:
        return ((SIGNED, low),)
    return ((UNSIGNED, low), (HIGH_HALF, high))


def _fp16_immediate(bits: int) -> int | None:
    """FP16 that SFPLOADI widens to the bits; None where there is none."""
    exponent = (bits >> 23 & 255) - _REBIAS
    if bits & _LOST or not 0 <= exponent < 32:
        return None
    return bits >> 16 & 0x8000 | exponent << 10 | bits >> 13 & 0x3FF


def loaded_bits(mode: int, immediate: int) -> int:
    """Value that one SFPLOADI gives (ISA documentation, page of `SFPLOADI`)."""
    match mode:
        case 0:
            return immediate << 16
        case 1:
            return immediate >> 15 << 31 | (immediate >> 10 & 31) + _REBIAS << 23 | (immediate & 0x3FF) << 13
        case 4:
            return immediate | (0xFFFF0000 if immediate >> 15 else 0)
        case _:
            return immediate
