# SPDX-License-Identifier: Apache-2.0
"""Literals: SFPLOADI loads what `loaded` says, for every immediate, and `loads` finds what gives the bits."""

from random import Random

import numpy as np
import pytest

from polyloom._native.tensix import VectorBench
from polyloom.targets.tensix.source.lower.literals import BF16, FP16, SIGNED, UNSIGNED, literal_loads, loaded_bits


@pytest.mark.parametrize("mode", [BF16, FP16, UNSIGNED, SIGNED])
def test_every_immediate(mode: int) -> None:
    bench = VectorBench()
    for first in range(0, 1 << 16, 8):
        bench.run(np.array([0x71 << 24 | k << 20 | mode << 16 | first + k for k in range(8)], np.uint32))
        got = [int(v) for v in bench.registers[:8, 0]]
        assert got == [loaded_bits(mode, first + k) for k in range(8)], f"mode {mode} from {first:#x}"


def _made(bits: int) -> int:
    (mode, immediate), *more = literal_loads(bits)
    value = loaded_bits(mode, immediate)
    return value & 0xFFFF | more[0][1] << 16 if more else value


def test_loads_give_the_bits() -> None:
    """All values that one SFPLOADI can load, and others, which take two."""
    one = {loaded_bits(mode, k) for mode in (BF16, FP16, UNSIGNED, SIGNED) for k in range(1 << 16)}
    assert all(len(literal_loads(bits)) == 1 and _made(bits) == bits for bits in one)
    random = Random(1)
    others = [bits for bits in (random.getrandbits(32) for _ in range(20_000)) if bits not in one]
    assert all(len(literal_loads(bits)) == 2 and _made(bits) == bits for bits in others)
