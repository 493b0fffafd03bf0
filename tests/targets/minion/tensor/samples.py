# SPDX-License-Identifier: Apache-2.0
"""Random words, tiles and values: special ones are frequent in some tiles and absent from others."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray
from tests.targets.minion.tensor.float_twin import Bits
from tests.targets.minion.tensor.twin import Tiles

from polyloom.targets.minion.words.tensor_words import BY_NAME

SINGLES = np.array(
    [0, 1 << 31, 1, 0x807FFFFF, 0x7F800000, 0xFF800000, 0x7FC00000, 0xFF800001, 0x7F7FFFFF, 0x00800000, 0x80800001],
    np.uint32,
)
HALVES = np.array([0, 0x8000, 1, 0x83FF, 0x7C00, 0xFC00, 0x7E00, 0xFC01, 0x7BFF, 0x0400], np.uint32)
Random = np.random.Generator


def rarities(random: Random, count: int, dimensions: int) -> NDArray[np.float64]:
    """How frequent specials are, tile by tile."""
    chosen = random.choice([0.0, 0.001, 0.02, 0.2, 0.6], count)
    return chosen.reshape(count, *(1,) * (dimensions - 1))


def singles(random: Random, shape: tuple[int, ...]) -> Bits:
    """Exponents near 1, anywhere, or near the least, tile by tile."""
    bits = random.integers(0, 1 << 32, shape, np.uint32)
    low, width = np.array([[120, 16], [0, 255], [1, 64], [180, 74]]).T
    kind = random.integers(0, 4, shape[0]).reshape(shape[0], *(1,) * (len(shape) - 1))
    exponent = (low[kind] + random.integers(0, 1 << 16, shape) % width[kind]).astype(np.uint32)
    made = bits & np.uint32(0x807FFFFF) | exponent << np.uint32(23)
    special = random.random(shape) < rarities(random, shape[0], len(shape))
    return np.where(special, random.choice(SINGLES, shape), made)


def halves(random: Random, shape: tuple[int, ...]) -> Bits:
    """Two in each word."""
    made = np.zeros(shape, np.uint32)
    for _ in range(2):
        bits = random.integers(0, 1 << 16, shape).astype(np.uint32) % np.uint32(0x7C00)
        bits |= random.integers(0, 2, shape).astype(np.uint32) << np.uint32(15)
        special = random.random(shape) < rarities(random, shape[0], len(shape))
        made = made << np.uint32(16) | np.where(special, random.choice(HALVES, shape), bits)
    zero = random.random(shape) < rarities(random, shape[0], len(shape))
    return np.where(zero, np.uint32(0), made)


def integers(random: Random, shape: tuple[int, ...]) -> Bits:
    made = random.integers(0, 1 << 32, shape, np.uint32)
    small = random.random((shape[0],) + (1,) * (len(shape) - 1)) < 0.5
    return np.where(small, made.view(np.int32) >> 20, made.view(np.int32)).astype(np.int32).view(np.uint32)


def tiles(random: Random, count: int, type: int) -> Tiles:
    """Minions with operands of a type of tensor_fma."""
    values = {0: singles, 1: halves, 3: integers}[type]
    return Tiles(
        singles(random, (count, 32, 8)),
        values(random, (count, 48, 16)),
        integers(random, (count, 16, 16)),
        values(random, (count, 16, 16)),
    )


def fields(random: Random, name: str, **fixed: int) -> dict[str, int]:
    """Random fields of an operation, those of x31 included."""
    made: Mapping[str, int] = {
        field.name: field.base + int(random.integers(0, 1 << min(field.width, 62))) * field.unit
        for field in BY_NAME[name].fields
    }
    return {**made, **fixed}
