# SPDX-License-Identifier: Apache-2.0
"""The multiplier's exact results: against a twin over integers, on a million operands of each kind and on all triples
of special ones."""

import itertools

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.targets.tensix.vector.words import SPECIAL

from polyloom._native import tensix
from polyloom.targets.tensix.source.oracle import multiply as twin

COUNT = 1 << 20
Words = NDArray[np.uint32]


def native(x: Words, y: Words, z: Words, blackhole: bool) -> Words:
    result = np.empty_like(x)
    tensix.multiply_add(blackhole, x, y, z, result)
    return result


def check(x: Words, y: Words, z: Words, blackhole: bool) -> None:
    got, wanted = native(x, y, z, blackhole), twin.multiply_add(x, y, z, blackhole)
    wrong = np.flatnonzero(got != wanted)[:5]
    assert not wrong.size, [[f"{v:08x}" for v in (x[k], y[k], z[k], got[k], wanted[k])] for k in wrong]


def floats(random: np.random.Generator, low: int, high: int) -> Words:
    """Any sign and mantissa, a quarter of them with few bits, with exponents from a range."""
    bits = random.integers(0, 1 << 32, COUNT, np.uint32)
    bits = np.where(random.integers(0, 4, COUNT) == 0, bits & np.uint32(0xFFE00000), bits)
    return (bits & np.uint32(0x807FFFFF)) | random.integers(low, high, COUNT, np.uint32) << np.uint32(23)


@pytest.mark.parametrize("blackhole", [False, True])
@pytest.mark.parametrize(
    ("x", "y", "z"),
    [
        ((0, 256), (0, 256), (0, 256)),  # any
        ((120, 134), (120, 134), (113, 140)),  # near: they overlap and cancel
        ((127, 128), (127, 128), (100, 155)),  # the addend at each distance
        ((1, 90), (30, 60), (0, 30)),  # at the lower end
        ((180, 255), (190, 255), (230, 256)),  # at the upper end
    ],
)
def test_a_million_operands(x: tuple[int, int], y: tuple[int, int], z: tuple[int, int], blackhole: bool) -> None:
    random = np.random.default_rng(17)
    check(floats(random, *x), floats(random, *y), floats(random, *z), blackhole)


@pytest.mark.parametrize("blackhole", [False, True])
def test_all_triples_of_special_operands(blackhole: bool) -> None:
    triples = np.array(list(itertools.product(SPECIAL, repeat=3)), np.uint32)
    triples = np.resize(triples, ((len(triples) + 31) // 32 * 32, 3))
    x, y, z = (np.ascontiguousarray(triples[:, k]) for k in range(3))
    check(x, y, z, blackhole)


def of(*values: float) -> Words:
    return np.resize(np.array(values, np.float32).view(np.uint32), 32)


def test_members_differ_where_the_sheet_says() -> None:
    """Blackhole keeps the signs of zeros and has one NaN; Wormhole's NaN has its lowest bit set."""
    minus, one, nan = of(-0.0), of(1.0), of(np.nan)
    assert native(minus, one, minus, False)[0] == 0
    assert native(minus, one, minus, True)[0] == 0x80000000
    assert native(nan, one, one, True)[0] == 0x7FC00000
    wormhole = int(native(nan, one, one, False)[0])
    assert wormhole & 0x7F800001 == 0x7F800001


def test_a_product_by_one_plus_zero_is_its_operand() -> None:
    random = np.random.default_rng(3)
    x = floats(random, 1, 255)
    assert (native(x, np.resize(of(1.0), COUNT), np.zeros(COUNT, np.uint32), False) == x).all()
