# SPDX-License-Identifier: Apache-2.0
"""A row of the table of times: what its source says, and a micro-program that measures it on the model.

`how` says what the hardware does for who comes too early: it `waits`, or the old value is read and that is `reported`;
nothing where there is no such case. The page's table is made of these rows (test_times.py).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from tests.targets.tensix.tile.tools import words

from polyloom.targets.tensix import python as tensix

How = Literal["", "waits", "reported"]
Measured = tuple[int, How]
VECTOR, MATRIX, PACK, UNPACK0 = 6, 4, 11, 2
"""Tracks of `native.events`."""


@dataclass(frozen=True, slots=True)
class Row:
    """`cycles` counts cycles, or what `unit` says."""

    group: str
    what: str
    cycles: int
    source: str
    measure: Callable[[], Measured]
    how: How = ""
    unit: str = "cycles"


def plain(measure: Callable[[], int]) -> Callable[[], Measured]:
    """Of a measurement in which nobody comes too early."""
    return lambda: (measure(), "")


def held(measure: Callable[[], int]) -> Callable[[], Measured]:
    """Of a measurement of how long the hardware holds an instruction: more than none."""

    def measured() -> Measured:
        cycles = measure()
        return cycles, "waits" if cycles > 0 else ""

    return measured


def fresh(member: str = "wormhole") -> tensix.Tile:
    """A tile that lists hazards and is traced; its vector registers, GPRs and Dst hold something."""
    tile = tensix.Tile(member=member, hazards="report")  # pyright: ignore[reportArgumentType]: callers write literals
    tile.native.tracing = True
    tile.dst_valid[:] = 1
    tile.dst[:] = 0x4100
    for register, bits in enumerate((0x3F800000, 0x40400000, 0x40000000, 0x3F000000, 0x40A00000, 0x40E00000, 7, 0)):
        tile.lregs[register] = bits
    tile.flags[:] = 0xFFFFFFFF
    return tile


def starts(tile: tensix.Tile, track: int) -> list[int]:
    """Cycles in which a unit accepted its instructions."""
    return [event[0] for event in tile.native.events if event[3] == track]


def distance(text: str, track: int, prepare: Callable[[tensix.Tile], None] = lambda tile: None) -> tuple[int, bool]:
    """Cycles from the first to the last instruction of a unit, and whether a hazard was found."""
    tile = fresh()
    prepare(tile)
    tile.push("t1", words(text))
    outcome = tile.run(10_000)
    assert outcome.stop == "idle"
    issued = starts(tile, track)
    return issued[-1] - issued[0], bool(outcome.hazards)


def rate(text: str, threads: Sequence[str] = ("t1",), count: int = 20) -> int:
    """Cycles per repetition of a text of one thread, all threads together."""

    def took(times: int) -> int:
        tile = fresh()
        for thread in threads:
            tile.push(thread, words(text + "\n") * times)
        outcome = tile.run(100_000)
        assert outcome.stop == "idle"
        return outcome.cycles

    return (took(2 * count) - took(count)) // count
