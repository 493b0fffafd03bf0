# SPDX-License-Identifier: Apache-2.0
"""Floor plan of a Wormhole chip: which nodes of the torus of 10 by 12 are Tensix tiles and DRAM tiles (ISA
documentation, WormholeB0/NoC/Coordinates.md, DRAMTile/README.md).

A place is a node's number on NoC 0, 10 * y + x; NoC 1 counts from the other end.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

WIDTH, HEIGHT = 10, 12
TILE_COLUMNS: Final = (1, 2, 3, 4, 6, 7, 8, 9)
TILE_ROWS: Final = (1, 2, 3, 4, 5, 8, 9, 11, 7, 10)
"""Rows of Tensix tiles in the order of translated coordinates, with rows 7 and 10 fused off, as the page has it."""
DRAM_COLUMNS: Final = (0, 5)
_GROUPS: Final[dict[int, tuple[int, ...]]] = {
    0: (0, 0, -1, -1, -1, 1, 1, 1, -1, -1, -1, 0),
    5: (2, 2, 3, 4, 4, 5, 5, 5, 4, 3, 3, 2),
}
"""Of each column of DRAM tiles, the group of two channels of each row."""
CHANNELS: Final = 12
CHANNEL_BYTES: Final = 1 << 30
"""Addresses of a channel: the second one of a DRAM tile begins there."""


@dataclass(frozen=True, slots=True)
class Memory:
    """Memory of a chip: bytes of each of twelve channels; bytes a cycle that a channel moves, of reads and writes
    together; cycles from a request at a DRAM tile to its answer.

    GDDR6 has 24 GB/s a channel, of which software is measured to get 22.0 to 22.3, at a clock of 1 GHz (ISA
    documentation, DRAMTile/README.md, "Performance"). No public page states the latency.
    """

    channel_bytes: int
    bytes_per_cycle: int = 22
    latency: int = 100


def tile_places(rows: int, columns: int) -> list[int]:
    """Places of a grid's tiles, row by row."""
    # A smaller grid is one of which the rest is fused off.
    return [WIDTH * y + x for y in TILE_ROWS[:rows] for x in TILE_COLUMNS[:columns]]


def node(noc: int, place: int) -> tuple[int, int]:
    """Coordinates of a place on a NoC: x, y."""
    y, x = divmod(place if noc == 0 else WIDTH * HEIGHT - 1 - place, WIDTH)
    return x, y


def dram_places(channel: int) -> list[int]:
    """Places of the DRAM tiles that reach a channel."""
    return [WIDTH * y + x for x, rows in _GROUPS.items() for y, group in enumerate(rows) if group == channel // 2]
