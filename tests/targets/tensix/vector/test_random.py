# SPDX-License-Identifier: Apache-2.0
"""Random numbers of the lanes, and the roundings that use them, against the instruction pages in Python: 1,024 operands
of each mode."""

from collections.abc import Callable

import pytest
from tests.targets.tensix.vector.benches import ALL, L, bench, lane_values, run
from tests.targets.tensix.vector.words import CAST, MOV, STOCHRND, mad, simple

from polyloom._native import tensix


def next_state(state: int) -> int:
    return state >> 1 | ((bin(state & 0x80200003).count("1") + 1) & 1) << 31


def test_the_generator_is_the_lane_s_own_and_stands_still_where_lanes_do_not_execute() -> None:
    made = tensix.VectorBench()
    made.seed(0x12345679)
    state = [(0x12345679 << k | 0x12345679 >> (32 - k)) & ALL for k in L]
    assert lane_values(made.random) == state
    made.flags = 0xFFFF, ALL
    for _ in range(100):
        run(made, simple(MOV, 9, 2, 8))
        assert lane_values(made.registers[2])[:16] == state[:16]
        state[:16] = [next_state(v) for v in state[:16]]
    assert lane_values(made.random) == state


def float_to_float(value: int, threshold: int, kept: int) -> int:
    exponent = value >> 23 & 255
    dropped = value & (0x7FFFFF >> kept)
    if exponent in {0, 255}:
        return 0 if exponent == 0 else value & 0xFF800000
    return value - dropped + ((dropped << kept >= threshold) << (23 - kept))


def float_to_integer(value: int, threshold: int, most: int, signed: bool) -> int:
    exponent = (value >> 23 & 255) - 127
    sign = value & 0x80000000 if signed else 0
    if exponent < -1:
        return 0
    if exponent >= 16:
        return sign | most
    scaled = (value & 0x7FFFFF | 0x800000) * 2 ** (exponent + 1) // 2
    magnitude = min((scaled >> 23) + (scaled & 0x7FFFFF >= threshold), most)
    return sign | magnitude if magnitude else 0


def integer_to_integer(value: int, threshold: int, by: int, most: int, signed: bool) -> int:
    scaled = (value & 0x7FFFFFFF) << 23 >> by
    magnitude = min((scaled >> 23) + (scaled & 0x7FFFFF >= threshold), most)
    return (value & 0x80000000 if signed else 0) | magnitude if magnitude else 0


ROUNDINGS: dict[int, Callable[[int, int, int], int]] = {
    0: lambda v, t, _: float_to_float(v, t, 10),
    1: lambda v, t, _: float_to_float(v, t, 7),
    2: lambda v, t, _: float_to_integer(v, t, 255, False),
    3: lambda v, t, _: float_to_integer(v, t, 127, True),
    4: lambda v, t, b: integer_to_integer(v, t, b & 31, 255, False),
    5: lambda v, t, b: integer_to_integer(v, t, b & 31, 127, True),
    6: lambda v, t, _: float_to_integer(v, t, 65535, False),
    7: lambda v, t, _: float_to_integer(v, t, 32767, True),
}


@pytest.mark.parametrize("mode", range(8))
def test_stochastic_rounding_compares_with_23_random_bits(mode: int) -> None:
    for seed in range(32):
        made = bench(seed)
        c, b = lane_values(made.registers[1]), lane_values(made.registers[3])
        random = [v & 0x7FFFFF for v in lane_values(made.random)]
        run(made, mad(STOCHRND, 0, 3, 1, 2, mode) | 1 << 21)
        wanted = [ROUNDINGS[mode](*v) for v in zip(c, random, b, strict=True)]
        assert lane_values(made.registers[2]) == wanted


def test_stochastic_cast_compares_seven_bits() -> None:
    for seed in range(32):
        made = bench(seed)
        c, random = lane_values(made.registers[1]), lane_values(made.random)
        run(made, simple(CAST, 1, 2, 1))
        for value, state, got in zip(c, random, lane_values(made.registers[2]), strict=True):
            magnitude = value & 0x7FFFFFFF
            zeros = 32 - magnitude.bit_length()
            normal = magnitude << zeros & ALL
            exact = ((157 - zeros) << 23) + (normal >> 8) if magnitude else 0
            assert got == (value & 0x80000000) + exact + (normal & 0xFE > state >> 9 & 0xFE)
