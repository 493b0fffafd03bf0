# SPDX-License-Identifier: Apache-2.0
"""Model of a grid of tiles, `pl.tensix.Grid`: tiles on the two NoCs of a Wormhole chip, with its DRAM
(docs/targets/tensix-grid.md).
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from polyloom._native import tensix as native
from polyloom.diagnostics import PolyloomError, input_error, nearest
from polyloom.targets.tensix.options import MAX_CYCLES, POLICIES, Hazards
from polyloom.targets.tensix.run.tile import STOPS, Outcome, Tile
from polyloom.targets.tensix.words.chip import (
    CHANNEL_BYTES,
    CHANNELS,
    TILE_COLUMNS,
    TILE_ROWS,
    WIDTH,
    Memory,
    tile_places,
)

_PORTS: Final = ("into the NoC", "along x", "along y", "out of the NoC")
_NAMED: Final = 4
"""Tiles that a message names before it counts."""


@dataclass(frozen=True, slots=True)
class Link:
    """Link of a NoC behind a node (x, y) of NoC 0: what it carried, and how long headers waited for it."""

    noc: int
    at: tuple[int, int]
    direction: str
    flits: int
    waited: int


@dataclass(slots=True)  # a machine is a thing that changes
class Grid:
    """A grid of tiles after power-on, up to 10 rows of 8. `grid[row, column]` is a tile, as `pl.tensix.Tile` describes
    it; cores reach the other tiles and the DRAM by the registers of both NoCs. `memory` says how large and how fast the
    channels are. Errors: PL1223.
    """

    rows: int = 8
    columns: int = 8
    hazards: Hazards = "error"
    memory: Memory = field(default_factory=lambda: Memory(1 << 22))
    native: native.Grid = field(init=False, repr=False)
    tiles: list[Tile] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if self.hazards not in POLICIES:
            help = nearest(str(self.hazards), POLICIES, "value")
            raise input_error("PL1223", f"{self.hazards!r} is no way to treat hazards", help=help)
        if not 1 <= self.rows <= len(TILE_ROWS) or not 1 <= self.columns <= len(TILE_COLUMNS):
            message = f"a Wormhole chip has no grid of {self.rows} rows and {self.columns} columns of tiles"
            help = f"give 1 to {len(TILE_ROWS)} rows and 1 to {len(TILE_COLUMNS)} columns, such as 8 and 8"
            raise input_error("PL1223", message, help=help)
        m = self.memory
        if not 0 <= m.channel_bytes <= CHANNEL_BYTES or not 1 <= m.bytes_per_cycle <= 32 or not 1 <= m.latency <= 10**4:
            help = f"give 0 to {CHANNEL_BYTES} bytes, 1 to 32 bytes a cycle, and a latency of 1 to 10000 cycles"
            raise input_error("PL1223", f"there is no such memory: {m}", help=help)
        # The native side knows the torus, and nothing of rows and columns of the grid.
        places = tile_places(self.rows, self.columns)
        numbers = (m.channel_bytes, m.bytes_per_cycle, m.latency)
        self.native = native.Grid(places, POLICIES[self.hazards], *numbers)
        self.tiles = [Tile(hazards=self.hazards, model=self.native.tile(n)) for n in range(len(places))]

    def __getitem__(self, at: tuple[int, int]) -> Tile:
        row, column = at
        if not 0 <= row < self.rows or not 0 <= column < self.columns:
            help = f"rows are 0 to {self.rows - 1}, columns 0 to {self.columns - 1}"
            raise input_error("PL1223", f"the grid has no tile {row}, {column}", help=help)
        return self.tiles[row * self.columns + column]

    def dram(self, channel: int) -> NDArray[np.uint8]:
        """All of a channel's memory, bytes. Errors: PL1223."""
        if not 0 <= channel < CHANNELS:
            help = f"channels are 0 to {CHANNELS - 1}; 2 n and 2 n + 1 are those of DRAM tiles Dn"
            raise input_error("PL1223", f"there is no channel {channel}", help=help)
        return self.native.dram(channel)

    def run(self, max_cycles: int = MAX_CYCLES, *, check: bool = True) -> Outcome:
        """Until all tiles are idle and nothing is on its way, nothing can change any more, or `max_cycles` have passed.
        Errors as of `Tile.run`; a message names the tile.
        """
        if not 0 <= max_cycles < 1 << 63:
            message = f"a grid runs no {max_cycles} cycles"
            raise input_error("PL1223", message, help="give 0 to 2^63 - 1, or leave it out")
        # All tiles have one clock; the count is that of the grid.
        stop = STOPS[self.native.run(max_cycles)]
        hazards = tuple(found for tile in self.tiles for found in tile.findings())
        fault = self.tiles[self.native.faulty].fault() if stop == "fault" else None
        outcome = Outcome(stop, self.native.cycles, hazards, fault, self._waits() if stop == "deadlock" else ())
        if check and (error := self._error(outcome)) is not None:
            raise error
        return outcome

    def _error(self, outcome: Outcome) -> PolyloomError | None:
        if outcome.fault is None:
            return outcome.error()
        # A hazard that ended the run is in both, as of a single tile.
        code = "PL1221" if outcome.fault in outcome.hazards else "PL1220"
        return input_error(code, f"{self._name(self.native.faulty)}: {outcome.fault}", help=outcome.fault.cure or None)

    def _name(self, number: int) -> str:
        return "tile {}, {}".format(*divmod(number, self.columns))

    def _waits(self) -> tuple[str, ...]:
        """What threads and cores wait for, each once with the tiles where it is so."""
        # 64 tiles that wait for the same are one line of a message.
        found = defaultdict[str, list[int]](list)
        for number, waits in enumerate(self.native.waits):
            for each in waits:
                found[each].append(number)
        return tuple(f"{self._names(numbers)}: {text}" for text, numbers in found.items())

    def _names(self, numbers: list[int]) -> str:
        named = "; ".join("{}, {}".format(*divmod(n, self.columns)) for n in numbers[:_NAMED])
        more = f" and {len(numbers) - _NAMED} more" if len(numbers) > _NAMED else ""
        return f"tile{'s' if len(numbers) > 1 else ''} {named}{more}"

    def utilization(self, unit: str = "matrix") -> list[float]:
        """Of each tile, the share of all cycles so far in which a unit was busy."""
        # A tile that sleeps counts no cycles of its own.
        cycles = max(1, self.native.cycle)
        return [tile.utilization()[unit] * max(1, tile.native.cycle) / cycles for tile in self.tiles]

    def links(self) -> list[Link]:
        """Links that have carried anything, the busiest first."""
        made = [
            Link(noc, (place % WIDTH, place // WIDTH), _PORTS[port], flits, waited)
            for noc, place, port, flits, waited in self.native.links()
        ]
        return sorted(made, key=lambda each: -each.flits)

    def channels(self) -> list[tuple[int, int, int]]:
        """Of each channel: bytes read, bytes written, cycles busy."""
        return self.native.channels()
