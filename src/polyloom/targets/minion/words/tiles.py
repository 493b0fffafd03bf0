# SPDX-License-Identifier: Apache-2.0
"""Tiling of operands of the tensor coprocessor in memory, and the grid of minions that compute the blocks.

A tile is 16 lines of 64 bytes: of the left factor 16 rows, of the right one 16 words of depth, each with the 1, 2 or 4
elements of that word of 16 columns. Source: the programmer's reference manual, chapter 9.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from polyloom.targets.minion.memory_map import LINE

ROWS: Final = 16
WORD: Final = 4
TILE: Final = ROWS * LINE


@dataclass(frozen=True, slots=True)
class Tiles:
    """Address function of tiles: tile (block, step) begins at address + block · block_step + step · depth_step; its
    lines are `stride` apart, or a load transforms what is there.
    """

    address: int
    block_step: int
    depth_step: int
    stride: int
    transform: str = "plain"


@dataclass(frozen=True, slots=True)
class Grid:
    """Grid of minions in a shire, and of shires, by rows and columns; `parts` minions with neighbouring numbers share a
    block, each with a part of the sum.
    """

    rows: int
    columns: int
    shire_rows: int = 1
    shire_columns: int = 1
    parts: int = 1

    @property
    def total_rows(self) -> int:
        return self.rows * self.shire_rows

    @property
    def total_columns(self) -> int:
        return self.columns * self.shire_columns

    def rounds(self, block_rows: int, block_columns: int) -> int:
        """Blocks that the busiest minion computes."""
        return -(-block_rows // self.total_rows) * -(-block_columns // self.total_columns)

    def fetched_tiles(self, block_rows: int, block_columns: int) -> int:
        """Tiles that a shire fetches per step along k: those of blocks that there are."""
        # A tile that several minions of a shire use is fetched once from beyond it, and then found in L2.
        return min(self.rows, block_rows) + min(self.columns, block_columns)
