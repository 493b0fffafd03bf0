# SPDX-License-Identifier: Apache-2.0
"""Tilize and untilize: matrices as tiles in L1 and back. A tile is 32 x 32 datums, four row-major faces of 16 x 16
behind a header of 16 bytes; what is beyond the matrix is zero.

Source: the vendor's tile layout, as the ISA documentation's page of `UNPACR` reads it (input address plus header, then
faces back to back).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
SIDE: Final = 32
FACE: Final = 16
HEADER: Final = 16
DATUMS: Final = SIDE * SIDE
# Dst of 32 bits has 512 rows of 16 datums, that is 8 tiles.
BLOCK: Final = 8
"""Rows of tiles of a product that are computed together: as many as Dst holds of 32 bits."""
LINE: Final = 4
"""Datums of 32 bits that a packer writes at once: rows of linear arrays are padded to them."""
Order = Literal["rows", "columns"]


def tile_count(extent: int) -> int:
    """Tiles along an extent."""
    return -(-extent // SIDE)


def tile_pitch(width: int) -> int:
    """Bytes from one tile to the next, of datums of `width` bytes."""
    return HEADER + DATUMS * width


def pad_to_tiles(matrix: Array) -> Array:
    """Zero-padded matrix of whole tiles."""
    rows, columns = matrix.shape
    return np.pad(matrix, ((0, tile_count(rows) * SIDE - rows), (0, tile_count(columns) * SIDE - columns)))


def tile_order(rows: int, columns: int, by: Order) -> Array:
    """Permutation of the tiles of a matrix into their order in L1: row-major or column-major."""
    numbers = np.arange(rows * columns).reshape(rows, columns)
    return numbers.ravel() if by == "rows" else numbers.T.ravel()


def tilize(datums: Array, by: Order = "rows") -> NDArray[np.uint8]:
    """Tilized bytes of a matrix of datums, tile after tile, each with an empty header."""
    whole = pad_to_tiles(datums)
    rows, columns = (extent // SIDE for extent in whole.shape)
    # Axes: tile row, half, row, tile column, half, column; faces go in the order top left, top right, bottom left,
    # bottom right.
    faces = whole.reshape(rows, 2, FACE, columns, 2, FACE).transpose(0, 3, 1, 4, 2, 5)
    flat = np.ascontiguousarray(faces).reshape(rows * columns, DATUMS)[tile_order(rows, columns, by)].view(np.uint8)
    return np.pad(flat, ((0, 0), (HEADER, 0))).ravel()


def untilize(data: NDArray[np.uint8], shape: tuple[int, int], dtype: type[np.generic], by: Order = "rows") -> Array:
    """Matrix of datums of tilized bytes: the inverse of `tilize`."""
    rows, columns = tile_count(shape[0]), tile_count(shape[1])
    tiles = data.reshape(rows * columns, HEADER + DATUMS * np.dtype(dtype).itemsize)[:, HEADER:]
    flat = np.empty((rows * columns, DATUMS), dtype)
    # The permutation that was read when the matrix was laid is written here, which inverts it without computing the
    # inverse.
    flat[tile_order(rows, columns, by)] = np.ascontiguousarray(tiles).view(dtype)
    whole = flat.reshape(rows, columns, 2, 2, FACE, FACE).transpose(0, 2, 4, 1, 3, 5)
    return whole.reshape(rows * SIDE, columns * SIDE)[: shape[0], : shape[1]]


@dataclass(frozen=True, slots=True)
class Blocks:
    """Blocking of a matrix in DRAM: tiles of a block's rows and columns, and bytes from one block to the next. Blocks
    follow row by row, the tiles of a block column by column; blocks at the edges are padded with zeros.
    """

    rows: int
    columns: int
    pitch: int

    def grid(self, extents: tuple[int, int]) -> tuple[int, int]:
        """Rows and columns of blocks of a matrix."""
        rows, columns = map(tile_count, extents)
        return -(-rows // self.rows), -(-columns // self.columns)

    @property
    def shape(self) -> tuple[int, int]:
        """Datums of a block."""
        return SIDE * self.rows, SIDE * self.columns


def tilize_blocks(
    matrix: Array, blocks: Blocks, encode: Callable[[Array], Array]
) -> Iterator[tuple[int, NDArray[np.uint8]]]:
    """Tilized bytes of a matrix of numbers, whose datums `encode` makes, block after block with their offsets."""
    count, (rows, columns) = blocks.grid((matrix.shape[0], matrix.shape[1])), blocks.shape
    for i, j in np.ndindex(count):
        part = encode(matrix[i * rows : (i + 1) * rows, j * columns : (j + 1) * columns])
        # Padded here and not by `tilize`: a block at the edge has as many tiles as the others.
        whole = np.pad(part, ((0, rows - part.shape[0]), (0, columns - part.shape[1])))
        yield (i * count[1] + j) * blocks.pitch, tilize(whole, "columns")


def untilize_blocks(
    data: NDArray[np.uint8], shape: tuple[int, int], dtype: type[np.generic], blocks: Blocks
) -> NDArray[Any]:
    """Matrix of datums of blocks: the inverse of `tilize_blocks`."""
    count, (rows, columns) = blocks.grid(shape), blocks.shape
    size = blocks.rows * blocks.columns * tile_pitch(np.dtype(dtype).itemsize)
    whole, found = np.empty((count[0] * rows, count[1] * columns), dtype), data.reshape(*count, blocks.pitch)
    for i, j in np.ndindex(count):
        block = untilize(found[i, j, :size], blocks.shape, dtype, "columns")
        whole[i * rows : (i + 1) * rows, j * columns : (j + 1) * columns] = block
    return whole[: shape[0], : shape[1]]


def row_pitch(extent: int) -> int:
    """Datums from one row of a linear array to the next."""
    return -(-extent // LINE) * LINE


def drop_unit_axes(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Shape whose last axes of one element are dropped: neighbours along the axis before are neighbours in memory."""
    while len(shape) > 1 and shape[-1] == 1:
        shape = shape[:-1]
    return shape


def linear_bytes(datums: Array) -> NDArray[np.uint8]:
    """Bytes of an array, row-major, each row padded with zeros to its pitch."""
    rows = np.ascontiguousarray(datums).reshape(-1, (drop_unit_axes(datums.shape) or (1,))[-1])
    padded = np.pad(rows, ((0, 0), (0, row_pitch(rows.shape[1]) - rows.shape[1])))
    return np.ascontiguousarray(padded).view(np.uint8).ravel()


def linear_datums(data: NDArray[np.uint8], shape: tuple[int, ...]) -> Array:
    """Datums of 32 bits of an array: the inverse of `linear_bytes`."""
    extent = (drop_unit_axes(shape) or (1,))[-1]
    rows = data.view(np.uint32).reshape(-1, row_pitch(extent))[:, :extent]
    return np.ascontiguousarray(rows).reshape(shape)
