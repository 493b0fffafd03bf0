# SPDX-License-Identifier: Apache-2.0
"""Operands for tests: lanes of `semantics` as the model's operands, special numbers, and a bridge to `operate`."""

from __future__ import annotations

from random import Random
from typing import Final

from polyloom._native import belt
from polyloom.targets.belt.isa import NUMBERS
from polyloom.targets.belt.run.model import operand_lanes
from polyloom.targets.belt.words.semantics import Lane, Lanes, NaR

WIDTHS: Final = (8, 16, 32, 64, 128)
SINGLE: Final = (0, 1 << 31, 1, 0x7F800000, 0xFF800000, 0x7FC00000, 0xFFC00001, 0x7FA00000, 0x3F800000, 0x00800000)
DOUBLE: Final = (0, 1 << 63, 1, 0x7FF << 52, 0xFFF << 52, 0x7FF8 << 48, 0x7FF4 << 48, 0x3FF << 52, 1 << 52, 0x41E << 52)
NAR: Final = NaR("overflow in bundle 5")
_WHY: Final = 1 << 24 | 5


def operand(bits: int, lanes: Lanes) -> belt.Operand:
    """The operand of `bits` per lane."""
    data = b"".join((lane if isinstance(lane, int) else 0).to_bytes(bits // 8, "little") for lane in lanes)
    states = [0 if isinstance(lane, int) else 1 if lane is None else 2 for lane in lanes]
    return (WIDTHS.index(bits), len(lanes), data, states, [_WHY if state == 2 else 0 for state in states])


def operate(
    name: str,
    operands: list[tuple[int, Lanes]],
    stated: int | None = None,
    lanes: int = 1,
    immediate: int | None = None,
) -> list[tuple[int, Lanes]]:
    """(bits per lane, lanes) of each result; `stated` bits per lane and `lanes` are what the word says."""
    width = -1 if stated is None else WIDTHS.index(stated)
    given = [operand(bits, of) for bits, of in operands]
    found = belt.operate(NUMBERS[name], width, lanes.bit_length() - 1, given, immediate, 7)
    return [(WIDTHS[result[0]] if result[0] >= 0 else 0, operand_lanes(result)) for result in found]


def number(random: Random, bits: int) -> int:
    """Small ones, ends of ranges, special floats, and any."""
    ends = (
        0,
        1,
        2,
        (1 << bits) - 1,
        1 << (bits - 1),
        (1 << (bits - 1)) - 1,
        (1 << bits) - 2,
        bits,
        bits - 1,
        1 << bits // 2,
    )
    choices = ends + (SINGLE if bits == 32 else DOUBLE if bits == 64 else ())
    draw = random.random()
    if draw < 0.4:
        return random.choice(choices)
    return random.getrandbits(bits) >> (random.randrange(bits) if draw < 0.6 else 0)


def lane(random: Random, bits: int, special: float) -> Lane:
    draw = random.random()
    if draw < special:
        return None if draw < special / 2 else NAR
    return number(random, bits)
