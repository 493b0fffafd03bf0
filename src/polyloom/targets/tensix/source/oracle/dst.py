# SPDX-License-Identifier: Apache-2.0
"""Dst as vector kernels see it: 1,024 rows of 16 datums of 16 bits, of which SFPLOAD and SFPSTORE take 32, by mode.

A datum is kept in Dst's order of bits (sign, mantissa, exponent). Lane k is row k // 8, column 2·(k % 8), or the next
one where bit 1 of the address says so; datums of 32 bits have their low half eight rows below the high one. Which bits
a store defined is kept beside: what holds no value is not compared. Tiles run side by side along the first axis.
Source: ISA documentation, page of `SFPLOAD`, `SFPSTORE` and `Dst`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from polyloom.targets.tensix.source.oracle.rounding import FRACTION, SIGN, Words

Truths = NDArray[np.bool_]
ROWS, COLUMNS = 1024, 16
FP16, BF16, FP32, INT32, INT8, UINT16, HI16, INT16, LO16, INT32_ALL, ZERO, SM32, INT8_COMP, LOW, HIGH = range(1, 16)
WIDE_LOADS: Final = frozenset({FP32, INT32, INT32_ALL, SM32})
WIDE_STORES: Final = WIDE_LOADS | {HI16, LO16}
_LANE: Final = np.arange(32)


@dataclass(slots=True)
class Dst:
    """Dst of several tiles. Mutable. `bits` and `known` are (tiles, 1024, 16)."""

    bits: NDArray[np.uint16]
    known: Truths = field(init=False)

    def __post_init__(self) -> None:
        self.known = np.ones(self.bits.shape, np.bool_)

    def load(self, mode: int, address: int) -> tuple[Words, Truths]:
        """SFPLOAD: the lanes' bits, and whether they have a value (ISA documentation, page of `SFPLOAD`)."""
        rows, columns = _lane_places(address)
        if mode in WIDE_LOADS:
            rows = _wide_rows(rows)
            high, low = (self.bits[:, r, columns].astype(np.uint32) for r in (rows, rows + 8))
            known = self.known[:, rows, columns] & self.known[:, rows + 8, columns]
            return _convert_loaded_wide(mode, high << 16 | low), known
        found = self.bits[:, rows, columns].astype(np.uint32)
        return _convert_loaded(mode, found), self.known[:, rows, columns] | (mode == ZERO)

    def store(self, mode: int, address: int, value: Words, known: Truths, enabled: Truths, certain: Truths) -> None:
        """SFPSTORE of the enabled lanes; `certain` says where it is known whether they are (ISA documentation, page of
        `SFPSTORE`).
        """
        rows, columns = _lane_places(address)
        made = _convert_stored(mode, np.broadcast_to(value, (len(self.bits), 32)))
        if mode not in WIDE_STORES:
            self._write_rows(rows, columns, made, known, enabled, certain)
            return
        rows = _wide_rows(rows)
        self._write_rows(rows, columns, made >> 16, known, enabled, certain)
        self._write_rows(rows + 8, columns, made, known, enabled, certain)

    def _write_rows(
        self, rows: NDArray[np.intp], columns: NDArray[np.intp], made: Words, known: Truths, on: Truths, certain: Truths
    ) -> None:
        old, was = self.bits[:, rows, columns], self.known[:, rows, columns]
        self.bits[:, rows, columns] = np.where(on, made & 0xFFFF, old)
        # Where it is not known whether a lane stores, neither the old nor the new value is certain.
        self.known[:, rows, columns] = np.where(on, known, was) & certain


def _lane_places(address: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Rows and columns by lane (ISA documentation, page of `SFPLOAD`, addressing)."""
    return (address & 0x3FC) + _LANE // 8, _LANE % 8 * 2 + (address >> 1 & 1)


def _wide_rows(rows: NDArray[np.intp]) -> NDArray[np.intp]:
    """Row of the high half of a 32-bit datum (ISA documentation, page of `Dst`: adjusted row)."""
    return (rows & 0x1F8) << 1 | rows & 0x207


def _float_order(v: Words) -> Words:
    """Order of bits of a float: 16 bits as sign, exponent, mantissa of 7 bits; the reverse is `_dst_order`."""
    return (v & 0x8000) | (v & 0xFF) << 7 | v >> 8 & 0x7F


def _dst_order(v: Words) -> Words:
    return (v & 0x8000) | (v & 0x7F) << 8 | v >> 7 & 0xFF


def _convert_loaded_wide(mode: int, v: Words) -> Words:
    made = _float_order(v >> 16) << 16 | (v & 0xFFFF)
    return _to_twos_complement(made) if mode == SM32 else made


def _convert_loaded(mode: int, v: Words) -> Words:
    """Conversion of 16 bits on a load, by mode (ISA documentation, page of `SFPLOAD`)."""
    sign = (v & 0x8000) << 16
    match mode:
        case 1:  # FP16
            exponent = v & 31
            return sign | np.where(exponent == 0, 0, exponent + 112).astype(np.uint32) << 23 | (v >> 5 & 0x3FF) << 13
        case 2:  # BF16
            return _float_order(v) << 16
        case 5:  # INT8
            return sign | (v >> 5 & 0x7F)
        case 13:  # INT8_COMP
            return _to_twos_complement(sign | (v >> 5 & 0x3FF))
        case 7:  # HI16
            return v << 16
        case 8:  # INT16
            return sign | (v & 0x7FFF)
        case 11:  # ZERO
            return np.zeros_like(v)
        case _:
            return v


def _convert_stored(mode: int, v: Words) -> Words:
    """Conversion on a store: the low 16 bits, or all 32 where the mode is wide (ISA documentation, page of
    `SFPSTORE`)."""
    match mode:
        case 1:  # FP16
            return _truncate_to_fp16(v)
        case 2:  # BF16
            return _dst_order(np.where(v & 0x7F800000, v, v & np.uint32(SIGN)) >> 16)
        case 3 | 4 | 10 | 12:  # FP32, INT32, INT32_ALL, SM32
            made = _to_sign_magnitude(v) if mode == SM32 else v
            return _dst_order(made >> 16) << 16 | (made & 0xFFFF)
        case 5 | 13:  # INT8, INT8_COMP
            made = _to_sign_magnitude(v) if mode == INT8_COMP else v
            # INT8 lies in Dst as an FP16 whose exponent field is 16 (page of `SFPSTORE`).
            return (made >> 16 & 0x8000) | (made & 0x3FF) << 5 | 16
        case 8:  # INT16
            return (v >> 16 & 0x8000) | (v & 0x7FFF)
        case 9:  # LO16
            return v << 16 | v >> 16
        case 11:  # ZERO
            return np.zeros_like(v)
        case 15:  # HIGH
            return v >> 16
        case _:
            return v


def _truncate_to_fp16(v: Words) -> Words:
    """Truncation to FP16: what is too small becomes a zero with its sign, what is too large the largest pattern."""
    exponent = (v >> 23 & 0xFF).astype(np.int64) - 112
    sign = v >> 16 & 0x8000
    normal = (v & FRACTION) >> 13 << 5 | (exponent & 31).astype(np.uint32)
    return sign | np.where(exponent <= 0, 0, np.where(exponent > 31, 0x7FFF, normal)).astype(np.uint32)


def _to_twos_complement(v: Words) -> Words:
    """Sign and magnitude to two's complement; −0 is 0."""
    return np.where(v >> 31, np.uint32(0) - (v & np.uint32(0x7FFFFFFF)), v).astype(np.uint32)


def _to_sign_magnitude(v: Words) -> Words:
    """Two's complement to sign and magnitude; the least integer loses its magnitude."""
    return np.where(v >> 31, np.uint32(SIGN) | ((np.uint32(0) - v) & np.uint32(0x7FFFFFFF)), v).astype(np.uint32)
