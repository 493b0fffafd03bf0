# SPDX-License-Identifier: Apache-2.0
"""The matrix unit, unpackers and packers alone, set up in few words: formats, Src and Dst in patterns, encodings."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from polyloom._native import tensix

Bits = NDArray[np.uint32]
Integers = NDArray[np.integer[Any]]
Values = Integers | NDArray[np.float64]
FORMATS = {
    "fp32": 0,
    "fp16": 1,
    "bfp8a": 2,
    "bfp4a": 3,
    "tf32": 4,
    "bf16": 5,
    "bfp8": 6,
    "bfp4": 7,
    "int32": 8,
    "int16": 9,
    "fp8": 10,
    "bfp2a": 11,
    "int8": 14,
    "bfp2": 15,
}
MVMUL, ELWMUL, ELWADD, ELWSUB, GMPOOL, GAPOOL = 0x26, 0x27, 0x28, 0x30, 0x33, 0x34


def word(opcode: int, *fields: tuple[int, int]) -> int:
    """Fields are (value, lowest bit)."""
    return opcode << 24 | sum(value << low for value, low in fields)


def _bits(x: Integers) -> Bits:
    return x.astype(np.uint32)


def to_dst(pattern: Integers, fp16: bool = False) -> Bits:
    """Patterns of 16 bits in Dst's order."""
    x = pattern.astype(np.uint32)
    if fp16:
        return _bits(x & 0x8000 | (x & 0x3FF) << 5 | x >> 10 & 0x1F)
    return _bits(x & 0x8000 | (x & 0x7F) << 8 | x >> 7 & 0xFF)


def to_src(pattern: Integers) -> Bits:
    """Patterns of TF32 (sign, 8 bits, 10 bits) in Src's order."""
    x = pattern.astype(np.uint32)
    return _bits(x & 0x40000 | (x & 0x3FF) << 8 | x >> 10 & 0xFF)


def upper(row: int) -> int:
    """The row of 16 bits that holds the upper halves of a row of 32; the lower halves lie 8 rows on."""
    return (row & 0x1F8) << 1 | row & 0x207


class Bench:
    """Arrays as attributes: `dst`, `valid`, `srca`, `srcb`, `thread_config`, `lane_config`, `rwc`, `adc`, `l1`."""

    def __init__(self) -> None:
        self.native = tensix.MatrixBench()
        self.config: Bits = self.native.view("config")[0]
        self.own: Bits = self.native.view("thread_config")[0]

    def __getattr__(self, name: str) -> Any:
        return self.native.view(name)

    def run(self, *words: int, times: int = 1) -> None:
        self.native.run(0, np.array(words, dtype=np.uint32), times)

    def alu(self, a: str = "bf16", *, fp32: bool = False, int8: bool = False, dst: str = "bf16") -> None:
        self.config[1] = FORMATS[a] << 17 | FORMATS[dst] << 25 | fp32 << 29 | int8 << 31

    def field(self, at: int, value: int, low: int, bits: int) -> None:
        mask = ((1 << bits) - 1) << low
        self.config[at] = int(self.config[at]) & ~mask & 0xFFFFFFFF | value << low

    def put(self, row: int, patterns: Values, *, wide: bool = False, fp16: bool = False) -> None:
        """Rows of Dst; patterns as usual (FP32, BF16 or FP16)."""
        for k, values in enumerate(patterns.astype(np.uint32).reshape(-1, 16), row):
            if wide:
                self.dst[upper(k)], self.dst[upper(k) + 8] = to_dst(values >> 16), values & 0xFFFF
                self.valid[upper(k)] = self.valid[upper(k) + 8] = 1
            else:
                self.dst[k], self.valid[k] = to_dst(values, fp16), 1

    def take(self, row: int, count: int, *, wide: bool = False, fp16: bool = False) -> Bits:
        rows: list[Integers] = []
        for k in range(row, row + count):
            x: Bits = self.dst[upper(k) if wide else k].astype(np.uint32)
            usual = (
                x & 0x8000 | (x & 0x1F) << 10 | x >> 5 & 0x3FF if fp16 else x & 0x8000 | (x & 0xFF) << 7 | x >> 8 & 0x7F
            )
            rows.append(usual << 16 | self.dst[upper(k) + 8] if wide else usual)
        return _bits(np.array(rows))


def pattern(values: ArrayLike) -> Bits:
    """FP32 patterns."""
    return np.asarray(values, dtype=np.float32).view(np.uint32)


def bf16(values: ArrayLike) -> Bits:
    return _bits(pattern(values) >> 16)


def src(values: ArrayLike) -> Bits:
    """TF32 in Src's order, by truncation."""
    return to_src(pattern(values) >> 13)
