# SPDX-License-Identifier: Apache-2.0
"""Placement of a spread product's arrays in DRAM: each row of tiles has a channel of its own among the DRAM tiles
between the columns of tiles, and half a channel of those at the edge, both as near as there are, so that rows do not
share links ("carefully chosen" pairs, ISA documentation, WormholeB0/DRAMTile/README.md, "Performance").
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from polyloom.targets.tensix.map.spread.shape import Spread
from polyloom.targets.tensix.words.chip import (
    CHANNEL_BYTES,
    CHANNELS,
    DRAM_COLUMNS,
    HEIGHT,
    TILE_ROWS,
    WIDTH,
    dram_places,
)

_ALIGNMENT: Final = 32


@dataclass(frozen=True, slots=True)
class Piece:
    """Bytes in a channel, and the place of the DRAM tile by which they are reached."""

    channel: int
    place: int
    address: int
    size: int

    @property
    def seen(self) -> int:
        """Address as requests have it."""
        return self.address + (self.channel % 2) * CHANNEL_BYTES


@dataclass(frozen=True, slots=True)
class Pieces:
    """All pieces: chunks by row of tiles, panel and step along k; slices by row, column of tiles and column; columns of
    the result by row, column of tiles, panel and column. `used` are bytes of each channel.
    """

    chunks: dict[tuple[int, int, int], Piece] = field(default_factory=dict[tuple[int, int, int], Piece])
    slices: dict[tuple[int, int, int], Piece] = field(default_factory=dict[tuple[int, int, int], Piece])
    results: dict[tuple[int, int, int, int], Piece] = field(default_factory=dict[tuple[int, int, int, int], Piece])
    used: list[int] = field(default_factory=lambda: [0] * CHANNELS)


def row_channels(rows: int) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    """Of each row of tiles, a channel and a place at the inner column of DRAM tiles, and at the outer one: the least
    used, of these the nearest. A place has links for one and a half channels.
    """
    taken, entered = [0] * CHANNELS, [0] * (WIDTH * HEIGHT)
    found = list[tuple[tuple[int, int], tuple[int, int]]]()
    for y in TILE_ROWS[:rows]:
        both = list[tuple[int, int]]()
        for column in reversed(DRAM_COLUMNS):
            ways = [
                (taken[channel], entered[place], (place // WIDTH - y) % HEIGHT, channel, place)
                for channel in range(CHANNELS)
                for place in dram_places(channel)
                if place % WIDTH == column
            ]
            # Data come from a DRAM tile upwards on NoC 1, and go to it downwards on NoC 0: the distance is the same.
            _, _, _, channel, place = min(ways)
            # Two channels by one DRAM tile would share its 32 bytes a cycle.
            taken[channel] += 1
            entered[place] += 1
            both.append((channel, place))
        found.append((both[0], both[1]))
    return found


def place_pieces(s: Spread) -> Pieces:
    """Placement of all pieces, one behind the other in their channels: every third of a row is at the outer column."""
    made, p = Pieces(), s.product
    for row, channels in enumerate(row_channels(s.rows)):
        # Chunks, slices and results go on in one sequence, so that both channels fill up at the same rate.
        turns = _alternate(channels)
        for panel in range(s.panels):
            for k in range(p.depth):
                made.chunks[row, panel, k] = _put(made, next(turns), s.chunk, p.left + k * s.chunk)
        start, end = s.slice_bounds(row)
        size, at = (end - start) * s.stream.factor_pitch, p.right + start * s.stream.factor_pitch
        for n in range(p.columns):
            # Buffers of columns are a multiple of 32 bytes apart.
            for column in range(s.columns):
                made.slices[row, column, n] = _put(made, next(turns), size, at)
        for panel in range(s.panels):
            for n in range(p.columns):
                for column in range(s.columns):
                    made.results[row, column, panel, n] = _put(made, next(turns), s.stream.block_bytes, 0)
    return made


def _alternate(channels: tuple[tuple[int, int], tuple[int, int]]) -> Iterator[tuple[int, int]]:
    inner, outer = channels
    while True:
        yield from (inner, inner, outer)


def _put(made: Pieces, where: tuple[int, int], size: int, l1: int) -> Piece:
    """Next bytes of a channel, at an address that agrees with L1's modulo 32 (docs/targets/tensix-grid.md)."""
    channel, place = where
    at = made.used[channel]
    at += (l1 - at) % _ALIGNMENT
    made.used[channel] = at + size
    return Piece(channel, place, at, size)
