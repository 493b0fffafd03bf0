# SPDX-License-Identifier: Apache-2.0
"""Activity bitmap of a run: what was busy when, one bit for each lane and cycle, in a form that is small enough to be
on a page.

A row of bits belongs to a lane (a unit) of a group (an element). A bit says that the lane started an operation in that
cycle, or, of what holds its lane until it is done, that it was busy. Runs that are long for their size have one bit for
several cycles (`step`), set where one of them has something.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

LARGEST: Final = 16 << 20
"""Bytes of bits; beyond it a bit stands for more cycles."""
# Population count by a table of bytes (Hacker's Delight, section 5-1).
_ONES: Final = np.array([n.bit_count() for n in range(256)], np.uint8)


@dataclass(frozen=True, slots=True)
class Group:
    """Group of lanes: its name, and the names of its lanes in their order."""

    name: str
    lanes: tuple[str, ...]


# Not slotted: cached properties need a dictionary.
@dataclass(frozen=True)
class Activity:
    """Activity of a run. `bits` has the lanes of all groups one after another, each with `width` bytes; bit 0 of byte 0
    is cycle 0. They tell in which cycles lanes are busy where spans hold them, else in which something starts.
    """

    groups: tuple[Group, ...]
    cycles: int
    bits: bytes
    step: int = 1
    holds: bool = False

    @property
    def width(self) -> int:
        """Bytes of a row."""
        return -(-self.cycles // (8 * self.step))

    @cached_property
    def rows(self) -> NDArray[np.uint8]:
        """The bits as an array of one row per lane."""
        return np.frombuffer(self.bits, np.uint8).reshape(-1, self.width)

    @cached_property
    def counts(self) -> Mapping[str, tuple[int, ...]]:
        """Number of bits that each lane has, by group."""
        sums, found, at = _ONES[self.rows].sum(axis=1, dtype=np.int64), dict[str, tuple[int, ...]](), 0
        for group in self.groups:
            found[group.name] = tuple(map(int, sums[at : at + len(group.lanes)]))
            at += len(group.lanes)
        return found

    def utilization(self, group: str) -> float:
        """Utilization of a group: bits that are set, divided by all bits of the group."""
        counts = self.counts[group]
        return sum(counts) * self.step / (len(counts) * self.cycles) if counts and self.cycles else 0.0


@dataclass(frozen=True, slots=True)
class Columns:
    """Events as arrays of one length: the lane, counted through all groups, and the cycle."""

    groups: tuple[Group, ...]
    lane: NDArray[np.int64]
    cycle: NDArray[np.int64]


def merge_columns(parts: Sequence[Columns]) -> Columns | None:
    """Events of several parts; a group of several parts has the lanes of the first one that knows it, and they are the
    same.
    """
    if not parts:
        return None
    # Reversed, so that the first part's group stays.
    groups = {g.name: g for part in reversed(parts) for g in part.groups}
    ordered = tuple(groups[name] for name in sorted(groups, key=natural_key))
    first, at = dict[str, int](), 0
    for group in ordered:
        first[group.name] = at
        at += len(group.lanes)
    lanes = [_global_lanes(part, first)[part.lane] for part in parts]
    return Columns(ordered, np.concatenate(lanes), np.concatenate([part.cycle for part in parts]))


def _global_lanes(part: Columns, first: Mapping[str, int]) -> NDArray[np.int64]:
    """Lane numbers of a part among the lanes of all."""
    found = [np.arange(len(g.lanes)) + first[g.name] for g in part.groups]
    return np.concatenate([np.zeros(0, np.int64), *found])


def column_activity(columns: Columns, largest: int = LARGEST) -> Activity:
    """Activity with one bit for each lane and cycle in which something starts."""
    cycle = columns.cycle
    cycles = int(cycle.max()) + 1 if len(cycle) else 0
    lanes = sum(len(g.lanes) for g in columns.groups)
    step = _cycles_per_bit(lanes, cycles, largest)
    width = -(-cycles // (8 * step))
    bits = np.zeros(lanes * width, np.uint8)
    column = cycle // step
    # Several events may share a byte, which an indexed assignment would lose.
    np.bitwise_or.at(bits, columns.lane * width + column // 8, (1 << (column % 8)).astype(np.uint8))
    return Activity(columns.groups, cycles, bits.tobytes(), step)


def _cycles_per_bit(lanes: int, cycles: int, largest: int) -> int:
    """Cycles per bit."""
    step = 1
    while lanes * -(-cycles // (8 * step)) > largest:
        step *= 2
    return step


def held_activity(groups: tuple[Group, ...], rows: Sequence[NDArray[np.int64]], largest: int = LARGEST) -> Activity:
    """Activity of lanes that are held: by lane, `rows` has the first cycle of each span and the one after its last."""
    cycles = max(int(row[:, 1].max()) for row in rows)
    step = _cycles_per_bit(len(rows), cycles, largest)
    columns = -(-cycles // step)
    packed = list[bytes]()
    for row in rows:
        # A difference array: the prefix sum over its changes is the number of spans at each column.
        change = np.zeros(columns + 1, np.int32)
        np.add.at(change, row[:, 0] // step, 1)
        np.add.at(change, -(-row[:, 1] // step), -1)
        packed.append(np.packbits(np.cumsum(change[:-1]) > 0, bitorder="little").tobytes())
    return Activity(groups, cycles, b"".join(packed), step, holds=True)


def natural_key(name: str) -> tuple[tuple[int, int | str], ...]:
    """Natural sort order: element (2, 10) after element (2, 9), whatever else is in the names."""
    parts = list[tuple[int, int | str]]()
    word = ""
    for c in name + " ":
        if word and word[-1].isdecimal() != c.isdecimal():
            parts.append((0, int(word)) if word.isdecimal() else (1, word))
            word = ""
        word += c
    return tuple(parts)
