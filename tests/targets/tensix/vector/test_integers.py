# SPDX-License-Identifier: Apache-2.0
"""SFPMUL24, on Blackhole: against Python's integers, with registers that L7 names, and with the addend that the page
describes but does not promise."""

from __future__ import annotations

import numpy as np
import pytest
from tests.targets.tensix.vector.words import MUL24, Lanes, mad, patterns

from polyloom._native import tensix

MASK = (1 << 23) - 1


def shifted_in(product: int, addend: int) -> int:
    """The float `addend`, a fraction of 24 bits and three more, is added under the larger of its exponent and 129."""
    exponent = addend >> 23 & 255
    if exponent == 0:
        return product
    scale = max(129, exponent)
    whole = (1 << 23 | addend & MASK) * 8
    kept = whole >> (scale - exponent) % 32
    product >>= (scale - 129) % 32
    if kept == 0:
        return product
    lost = whole - (kept << (scale - exponent) % 32)
    return (product + kept + (0x10000 if lost > 0xFFFF else 0)) & MASK


def wanted(registers: Lanes, mode: int, addend: int) -> list[list[int]]:
    made = [[int(value) for value in register] for register in registers]
    for lane in range(32):
        named = int(registers[7][lane]) & 15
        a = int(registers[named if mode & 4 else 0][lane]) & MASK
        product = a * (int(registers[1][lane]) & MASK)
        result = shifted_in(product >> 23 if mode & 1 else product & MASK, int(registers[addend][lane]))
        target = named if mode & 8 else 3
        if target < 8:
            made[target][lane] = result
    return made


@pytest.mark.parametrize("addend", [9, 2])
@pytest.mark.parametrize("mode", [0, 1, 4, 5, 8, 9, 12, 13])
@pytest.mark.parametrize("seed", range(32))
def test_products_of_integers(mode: int, addend: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    made = tensix.VectorBench(True)
    made.registers[:7] = patterns(random, (7, 32))
    made.registers[7] = random.integers(0, 16, 32)
    before = made.registers.copy()
    made.run(np.array([mad(MUL24, 0, 1, addend, 3, mode)], np.uint32))
    assert made.registers[:8].tolist() == wanted(before, mode, addend)[:8]


def test_bit_1_is_reserved() -> None:
    with pytest.raises(ValueError, match="reserved-mode"):
        tensix.VectorBench(True).run(np.array([mad(MUL24, 0, 1, 9, 3, 2)], np.uint32))
