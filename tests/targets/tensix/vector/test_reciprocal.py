# SPDX-License-Identifier: Apache-2.0
"""SFPARECIP's exponential, on Blackhole: bits by exact arithmetic, and the accuracy that its page promises."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from tests.targets.tensix.vector.words import ARECIP, Lanes, simple

from polyloom._native import tensix

EXP = 2


def exponentials(patterns: Lanes) -> Lanes:
    made = tensix.VectorBench(True)
    found: list[Lanes] = []
    for start in range(0, len(patterns), 32):
        made.registers[1] = np.resize(patterns[start : start + 32], 32)
        made.run(np.array([simple(ARECIP, 1, 2, EXP)], np.uint32))
        found.append(made.registers[2].copy())
    return np.concatenate(found)[: len(patterns)]


def power(x: Fraction) -> Fraction:
    """e to the x between two sums of its series, which are closer than any entry is to the next."""
    return sum((x**k / math.factorial(k) for k in range(40)), Fraction(0))


def test_every_entry_of_the_hardwares_table() -> None:
    heads = np.array([head << 16 for head in range(0x3C80, 0x4000)], np.uint32)
    for head, found in zip(heads, exponentials(heads + np.uint32(0x1234)), strict=True):
        value = power(Fraction(float(head.view(np.float32))))
        exponent = 0 if value < 2 else 1 if value < 4 else 2
        steps = (value / 2**exponent - 1) * 128
        entry = math.floor(steps)
        assert min(steps - entry, entry + 1 - steps) > Fraction(1, 10**6)  # so that the host's `exp` cannot miss it
        assert int(found) == (127 + exponent) << 23 | entry << 16 | 0x1234


def test_beyond_the_table() -> None:
    given = np.array([0, 1, 0x00800000, 0x3C7FFFFF, 0x40000000, 0x7F800000, 0x80000000, 0xBF800000], np.uint32)
    wanted = [0x3F800000, 0x3F800000, 0x3F810000, 0x3F81FFFF, 0x40800000, 0x40800000, 0xBF800000, 0xC02D0000]
    assert exponentials(given).tolist() == wanted


def test_the_error_is_as_small_as_the_page_says() -> None:
    values = np.random.default_rng(5).uniform(0, 2, 4096).astype(np.float32)
    found = exponentials(values.view(np.uint32)).view(np.float32).astype(np.float64)
    ratio = found / np.exp(values.astype(np.float64))
    assert ratio.min() > 0.9922 and ratio.max() < 1.016
