# SPDX-License-Identifier: Apache-2.0
"""Distribution of a product over a grid: panels of the left factor along rows of tiles, columns of the right one along
columns (SUMMA: R. A. van de Geijn and J. Watts, 1997; here the sum is not cut, so that each tile finishes its part of
the result).

A tile computes `panels` panels of its row by `product.columns` columns of its column. The panel is cut along k into
chunks of one tile, the column into slices; each is read from DRAM by one tile and multicast to the others.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from polyloom.targets.tensix.map.loops.shape import Product
from polyloom.targets.tensix.map.loops.stream import MEETING, Stream
from polyloom.targets.tensix.options import Dest
from polyloom.targets.tensix.words.arrays import tiles
from polyloom.targets.tensix.words.arrays.formats import Format, Result

_LINE: Final = 16
PACKET: Final = 8192
LEFT: Final = MEETING
"""Words behind those of a stream: of each tile of the row how many chunks it has given, of each one of the column how
many slices; of both buffers of columns and of that of panels how often they were given back, by all."""
RIGHT: Final = LEFT + 4 * 8
FREE_COLUMNS: Final = (RIGHT + 4 * 12, RIGHT + 4 * 12 + _LINE)
FREE_PANELS: Final = FREE_COLUMNS[1] + _LINE
WORDS: Final = FREE_PANELS + _LINE


@dataclass(frozen=True, slots=True)
class Spread:
    """A product on a grid of `rows` by `columns` tiles: what each tile computes, with its buffers in L1, and where the
    tables of its movers are.
    """

    rows: int
    columns: int
    stream: Stream
    table: int

    @property
    def product(self) -> Product:
        return self.stream.product

    @property
    def panels(self) -> int:
        return self.product.rows // self.stream.panel_rows

    @property
    def chunk(self) -> int:
        """Bytes of a chunk of a panel: its tiles for one step along k."""
        return self.stream.panel_rows * self.stream.factor_pitch

    @property
    def rounds(self) -> int:
        """Chunks of a panel that a tile gives at most."""
        return -(-self.product.depth // self.columns)

    def slice_bounds(self, row: int) -> tuple[int, int]:
        """Steps along k of the slice of a column that the tile of a row gives."""
        return row * self.product.depth // self.rows, (row + 1) * self.product.depth // self.rows

    def chunk_count(self, column: int) -> int:
        """Chunks of a panel that the tile of a column gives: every `columns`-th."""
        return len(range(column, self.product.depth, self.columns))


@dataclass(frozen=True, slots=True)
class Shape:
    """A product in tiles of 32, with its formats."""

    rows: int
    columns: int
    depth: int
    format: Format
    packed: Result
    dest: Dest
    fidelity: int
    narrow: Result | None = None


def place_spread(shape: Shape, rows: int, columns: int, first: int, end: int) -> Spread | None:
    """Buffers in L1 from `first` to `end`; None where they do not fit. Rows and columns are padded to whole tiles of
    the grid.
    """
    # Fewer rows than Dst holds are one panel; T1 takes whole blocks, so that more are padded to them.
    own = -(-shape.rows // rows)
    panel_rows = min(own, tiles.BLOCK)
    p = Product(
        -(-own // panel_rows) * panel_rows, -(-shape.columns // columns), shape.depth, 0, 0, 0,
        shape.format, shape.packed, shape.dest, shape.fidelity, narrow=shape.narrow,
    )  # fmt: skip
    # Reads from DRAM take addresses that agree modulo 32.
    words = -(-first // 32) * 32
    table = words + WORDS
    plain = Stream(p, 1, 0, 0, 0, words, panel_rows)
    # As many addresses as a tile has chunks, slices and columns of the result at most.
    entries = p.rows // panel_rows * (-(-p.depth // columns) + p.columns) + p.columns
    left = -(-(table + TABLE + 8 * entries) // 32) * 32
    right = left + plain.panel_tiles * plain.factor_pitch
    result = right + 2 * plain.column_tiles * plain.factor_pitch
    if result + 2 * plain.block_bytes > end:
        return None
    placed = Product(
        p.rows, p.columns, p.depth, left, right, result, p.format, p.packed, p.dest, p.fidelity, narrow=p.narrow
    )
    return Spread(rows, columns, Stream(placed, 1, 0, 0, 0, words, panel_rows), table)


(OWN0, OWN1, ROW, COLUMN, CHUNKS, FIRST, CHUNK_FLAG, CHUNK_MASK,
 PARTS, PART, LAST, SLICE, SLICE_FLAG, SLICE_MASK) = range(0, 56, 4)  # fmt: skip
"""Words of a tile's table: its coordinates on both NoCs, the rectangles of its row and column; of its chunks their
number, the first one's place, and where it tells of them; of its slice the same, as packets."""
TABLE: Final = 64
"""Bytes of these; addresses in DRAM follow: of its chunks, its slices, its columns of the result, low and high words.
"""


def split_packets(size: int) -> list[tuple[int, int]]:
    """Packets of about the same size: place and bytes of each, multiples of 16."""
    # Parts of equal size: a short last packet would pay a whole header.
    count = -(-size // PACKET)
    part = -(-size // max(count, 1) // _LINE) * _LINE
    return [(at, min(part, size - at)) for at in range(0, size, part)] if size else []
