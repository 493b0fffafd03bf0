# SPDX-License-Identifier: Apache-2.0
"""tensor_fma against its twin: random fields, masks, wraps, rounding modes and special values, with AVX2 and FMA where
the host has them, and without. The default run compares more than a million elements; `long` 115,200
tiles."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from tests.targets.minion.tensor import samples, twin

from polyloom._native import minion
from polyloom.targets.minion.words.tensor_words import encode

TILES = 128
TYPES = {"fp32": 0, "fp16": 1, "int8": 3}


@pytest.fixture(autouse=True)
def host() -> Iterator[None]:
    wide = minion.tensor_wide()
    yield
    minion.set_tensor_wide(wide)


def native(word: int, tiles: twin.Tiles, masks: samples.NDArray[np.uint16], mode: int, wide: bool) -> twin.Tiles:
    made = tiles.copy()
    minion.set_tensor_wide(wide)
    lines, b = made.scp.view(np.uint8), made.tenb.view(np.uint8)
    minion.tensor_multiply(word, masks, mode, made.f, lines, made.tenc, b, made.flags)
    return made


def same(made: twin.Tiles, expected: twin.Tiles, word: object) -> None:
    assert_array_equal(made.f, expected.f, err_msg=str(word))
    assert_array_equal(made.tenc, expected.tenc, err_msg=str(word))
    assert_array_equal(made.flags, expected.flags, err_msg=str(word))


def compared(type: int, seed: int, count: int) -> int:
    """Compares `count` words on 128 tiles each; the number of elements."""
    random = np.random.default_rng([type, seed])
    elements = 0
    for number in range(count):
        full = {"rows": 16, "columns": 16, "words": 16} if number % 8 == 0 else {}
        word = samples.fields(random, "tensor_fma", type=type, **full)
        if number % 2:
            word["masked"] = 0
        mode = int(random.integers(0, 5))
        masks = random.integers(0, 1 << 16, TILES).astype(np.uint16)
        tiles = samples.tiles(random, TILES, type)
        expected = tiles.copy()
        with np.errstate(all="ignore"):
            twin.fma(expected, word, masks, mode)
        for wide in (True, False):
            same(native(encode("tensor_fma", **word).value, tiles, masks, mode, wide), expected, (word, mode, wide))
        elements += TILES * word["rows"] * word["columns"]
    return elements


@pytest.mark.parametrize("name", TYPES)
def test_random_words(name: str) -> None:
    assert compared(TYPES[name], 1, 16) > 100_000


@pytest.mark.long
@pytest.mark.parametrize("name", TYPES)
@pytest.mark.parametrize("part", range(3))
def test_many_words(name: str, part: int) -> None:
    assert compared(TYPES[name], 100 + part, 100) > 700_000


def one(type: int, a: int, b: int, c: int, mode: int = 0, first: int = 0, wide: bool = True) -> tuple[int, int]:
    """One element of one step: bits and flags."""
    zeros = [np.zeros((1, *shape), np.uint32) for shape in ((32, 8), (48, 16), (16, 16), (16, 16))]
    tile = twin.Tiles(*zeros)
    tile.f[0, 0, 0], tile.scp[0, 0, 0], tile.tenb[0, 0, 0] = c, a, b
    word = encode("tensor_fma", type=type, tenb=1, first=first).value
    made = native(word, tile, np.zeros(1, np.uint16), mode, wide)
    return int(made.f[0, 0, 0]), int(made.flags[0])


def test_what_would_round_up_to_the_least_normal_is_flushed() -> None:
    # (1 - 2^-24) * 2^-126 is between two subnormals and 2^-126, to which it would round.
    assert one(0, 0x3F7FFFFF, 0x00800000, 0, first=1) == (0, twin.UF | twin.NX)
    assert one(0, 0x3F800000, 0x00800000, 0, first=1) == (0x00800000, 0)


def test_a_plus_zero_operand_skips_the_step() -> None:
    infinity, minus_zero = 0x7F800000, 1 << 31
    assert one(0, 0, infinity, minus_zero) == (minus_zero, 0)
    assert one(0, minus_zero, infinity, 0) == (0x7FC00000, twin.NV)
    assert one(0, 0, infinity, 0, first=1) == (0x7FC00000, twin.NV)


def test_a_half_of_zero_does_not_skip_fp16() -> None:
    # 0 * infinity in the low halves; the high ones are not zero.
    assert one(1, 0x3C000000, 0x3C007C00, 0) == (0x7FC00000, twin.NV)
    assert one(1, 0, 0x7C007C00, 1 << 31) == (1 << 31, 0)


@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize("first", [0, 1])
def test_fp16_zeros_of_one_sign_keep_it(first: int, wide: bool) -> None:
    """Products of every combination of signs, and C; in a first pass there is no C."""
    zero, one_ = 0x0000, 0x3C00
    for signs in range(8):
        low, high, c = signs & 1, signs >> 1 & 1, signs >> 2
        x = zero | low << 15 | (one_ | high << 15) << 16
        y = one_ | zero << 16
        expected = low & high & (1 if first else c)
        assert one(1, x, y, c << 31, first=first, wide=wide) == (expected << 31, 0), (low, high, c)
    assert one(1, 0x3C003C00, 0xBC003C00, 1 << 31, first=first, wide=wide) == (0, 0)


def test_fp16_overflows_to_the_largest_and_cuts_off() -> None:
    assert one(1, 0x7BFF, 0x7BFF, 0x7F7FFFFF) == (0x7F7FFFFF, twin.NX)
    # 1 - 2^-28, cut off: the largest below 1; rounded to nearest it would be 1.
    assert one(1, 0x0400, 0x8400, 0x3F800000)[0] == 0x3F7FFFFF


def test_fp16_subnormals_are_zeros_and_told() -> None:
    assert one(1, 0x0001, 0x3C00, 0x3F800000) == (0x3F800000, twin.ID)


def test_int8_wraps() -> None:
    zeros = [np.zeros((1, *shape), np.uint32) for shape in ((32, 8), (48, 16), (16, 16), (16, 16))]
    tile = twin.Tiles(*zeros)
    tile.tenc[0, 0, 0], tile.scp[0, 0, 0], tile.tenb[0, 0, 0] = 0x7FFFFFFF, 1, 1
    made = native(encode("tensor_fma", type=3, tenb=1).value, tile, np.zeros(1, np.uint16), 0, True)
    assert made.tenc[0, 0, 0] == 0x80000000
    assert not made.f.any()
