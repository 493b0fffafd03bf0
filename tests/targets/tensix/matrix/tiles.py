# SPDX-License-Identifier: Apache-2.0
"""Tiles in L1 apart from the model: what bytes of each format are worth, and what rounding into it gives. All over
float64, which holds every value exactly."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from tests.targets.tensix.matrix.bench import FORMATS, Bench, Bits, Integers, to_src, word

Floats = NDArray[np.float64]
Bytes = NDArray[np.uint8]
BASE = 0x2000
"""Where a tile's header lies."""

WIDTHS = {"fp32": 32, "tf32": 32, "int32": 32, "fp16": 16, "bf16": 16, "int16": 16, "fp8": 8, "int8": 8}
BLOCKS = {"bfp8": 8, "bfp8a": 8, "bfp4": 4, "bfp4a": 4, "bfp2": 2, "bfp2a": 2}
NARROW = ("fp16", "fp8", "bfp8a", "bfp4a", "bfp2a")


def bias(name: str) -> int:
    return 15 if name in NARROW else 127


def joined(values: Integers, bits: int) -> Bytes:
    """Datums of 2, 4 or 8 bits as bytes, low bits first."""
    each = 8 // bits
    return (values.reshape(-1, each) << (np.arange(each) * bits)).sum(axis=1).astype(np.uint8)


def blocks(name: str, exponents: Bits, signs: Integers, magnitudes: Bits) -> Bytes:
    """Exponents first, to a multiple of 16 bytes."""
    bits = BLOCKS[name]
    head = np.zeros(-(-len(exponents) // 16) * 16, dtype=np.uint8)
    head[: len(exponents)] = exponents
    return np.concatenate([head, joined(signs << (bits - 1) | magnitudes, bits)])


def worth(name: str, exponents: Bits, signs: Integers, magnitudes: Bits) -> Floats:
    scale = exponents.astype(np.float64).repeat(16) - bias(name) - (BLOCKS[name] - 2)
    return np.where(signs, -1.0, 1.0) * magnitudes * 2.0**scale


def src_of(name: str, values: Floats) -> Bits:
    """Exact values as Src holds them."""
    if name in NARROW:
        half = values.astype(np.float16).view(np.uint16).astype(np.uint32)
        return to_src((half & 0x8000) << 3 | half & 0x7FFF)
    return to_src(values.astype(np.float32).view(np.uint32) >> 13)


def rounded(values: Floats, mantissa: int) -> Floats:
    """To so many bits of mantissa, half away from zero."""
    significand, exponent = np.frexp(np.abs(values))
    return np.copysign(np.ldexp(np.floor(np.ldexp(significand, mantissa + 1) + 0.5), exponent - mantissa - 1), values)


def packed(name: str, values: Floats) -> tuple[Bits, Bits, Bits]:
    """Exponents, signs and magnitudes of values that fit the format's wider relative (BF16, or FP16 of 7 bits)."""
    groups = values.reshape(-1, 16)
    shared = np.frexp(np.abs(groups).max(axis=1))[1] - 1
    magnitudes = np.floor(np.abs(groups) / 2.0 ** (shared[:, None] - 6.0) + 0.5).clip(0, 127).astype(np.uint32)
    magnitudes >>= 8 - BLOCKS[name]
    signs = ((groups < 0) & (magnitudes > 0)).astype(np.uint32)
    return (shared + bias(name)).astype(np.uint32), signs.ravel(), magnitudes.ravel()


def lay(bench: Bench, data: Bytes, base: int = BASE) -> None:
    bench.l1[base + 16 : base + 16 + len(data)] = data


def describe(bench: Bench, unit: int, name: str, out: str | None = None, count: int = 256, base: int = BASE) -> None:
    """One row of tiles of `count` datums, all of it unpacked to where Src starts."""
    at = 92 if unit else 52
    bench.config[at : at + 3] = FORMATS[name] | 1 << 4 | count << 16, 1 | 1 << 16, 1
    bench.config[at + 8], bench.config[at + 12] = FORMATS[out or name] | 2 << 4, base // 16
    bench.own[3] = 4
    bench.run(word(0x5E, (1, 21 + unit), (count - 1, 10)))
    if unit == 0:
        start_four_rows_in(bench, out or name)


def start_four_rows_in(bench: Bench, out: str) -> None:
    width = {32: 4, 16: 2}.get(WIDTHS.get(out, 8), 1)
    bench.field(40, 64 * width, 16, 16)


def unpacr(unit: int = 0, *fields: tuple[int, int]) -> int:
    return word(0x42, (unit, 23), *fields)
