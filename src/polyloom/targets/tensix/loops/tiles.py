# SPDX-License-Identifier: Apache-2.0
"""Matrices as tiles in L1 and back: 32 x 32 datums each, four row-major faces of 16 x 16 behind a header of 16 bytes;
what is beyond the matrix is zero."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
SIDE: Final = 32
FACE: Final = 16
HEADER: Final = 16
DATUMS: Final = SIDE * SIDE


def count(extent: int) -> int:
    """Tiles along an extent."""
    return -(-extent // SIDE)


def pitch(width: int) -> int:
    """Bytes from tile to tile, of datums of `width` bytes."""
    return HEADER + DATUMS * width


def padded(matrix: Array) -> Array:
    """With zeros up to whole tiles."""
    rows, columns = matrix.shape
    return np.pad(matrix, ((0, count(rows) * SIDE - rows), (0, count(columns) * SIDE - columns)))


def lay(datums: Array, by_column: bool = False) -> NDArray[np.uint8]:
    """The bytes of a matrix of datums: tile after tile along rows, or along columns."""
    whole = padded(datums)
    rows, columns = (extent // SIDE for extent in whole.shape)
    faces = whole.reshape(rows, 2, FACE, columns, 2, FACE).transpose(0, 3, 1, 4, 2, 5)
    ordered = faces.transpose(1, 0, 2, 3, 4, 5) if by_column else faces
    flat = np.ascontiguousarray(ordered).reshape(rows * columns, DATUMS).view(np.uint8)
    return np.pad(flat, ((0, 0), (HEADER, 0))).ravel()


def take(data: NDArray[np.uint8], shape: tuple[int, int], dtype: type[np.generic]) -> Array:
    """The inverse of `lay` along rows: datums of a matrix."""
    rows, columns = count(shape[0]), count(shape[1])
    tiles = data.reshape(rows * columns, HEADER + DATUMS * np.dtype(dtype).itemsize)[:, HEADER:]
    faces = np.ascontiguousarray(tiles).view(dtype).reshape(rows, columns, 2, 2, FACE, FACE)
    whole = faces.transpose(0, 2, 4, 1, 3, 5).reshape(rows * SIDE, columns * SIDE)
    return whole[: shape[0], : shape[1]]
