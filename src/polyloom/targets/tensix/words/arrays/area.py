# SPDX-License-Identifier: Apache-2.0
"""Placement of arrays in L1: each array as a matrix of tiles, of which datums, at which address.

Layout of a tile: four faces behind a header of 16 bytes (docs/targets/tensix-loops.md, and the ISA documentation's page
of `UNPACR`, whose input address skips the header).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import prod
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from polyloom.analysis.contraction import Matrix
from polyloom.diagnostics import input_error
from polyloom.ir.operations import ElementType
from polyloom.targets.tensix.words.arrays import tiles
from polyloom.targets.tensix.words.arrays.elements import ELEMENTS, Elements, element_format_name
from polyloom.targets.tensix.words.arrays.formats import Arithmetic, Format

Array = NDArray[Any]
# The most negative i8 would be -128, but a tile's i8 is a sign and 7 bits of magnitude.
_I8: Final = 127
CODE: Final = 0x6000
"""Where T0 starts after a reset; T1's and T2's programs follow."""
NARROW: Final[tuple[ElementType, ...]] = ("i8", "i16", "u8", "u16", "u32", "bool")
"""Integer types other than the vector unit's own: they lie in L1 as INT32, sign- or zero-extended."""
# Programs end below DATA; the meeting words, scalars and arrays of a program follow from there.
DATA: Final = 0x8000
# The end of Wormhole's L1, 0x0 to 0x16FFFF; nothing else owns a part of it on a tile without a NoC.
END: Final = 0x170000
MEETING: Final = 16
"""Bytes of the words by which cores meet."""
Held = Literal["factor", "sum", "elements"]
"""As what an array lies in L1: as a factor of products, as their result, or as elements."""


@dataclass(frozen=True, slots=True)
class Placed:
    """An array placed in L1 as a matrix of tiles at an address in bytes: its shape, and the axes that make rows and
    columns (`Matrix`). `wrapped`: the array is a vector, laid in rows of a tile's side so that whole tiles are filled.
    `linear`: the array lies row by row, without tiles. `blocks`: it lies in the memory behind the tile, in blocks.
    """

    matrix: Matrix
    shape: tuple[int, ...]
    address: int
    width: int
    wrapped: bool = False
    linear: bool = False
    blocks: tiles.Blocks | None = None

    @property
    def extents(self) -> tuple[int, int]:
        """Rows and columns of the matrix, in datums."""
        # A vector as one row of a matrix would leave 31 of 32 rows of each tile empty.
        if self.wrapped:
            return -(-prod(self.shape) // tiles.SIDE), tiles.SIDE
        rows, columns = (prod(self.shape[n] for n in axes) for axes in (self.matrix.rows, self.matrix.columns))
        return rows, columns

    @property
    def size(self) -> int:
        """Bytes in L1 or DRAM, tiles padded and headers included."""
        if self.blocks is not None:
            return prod(self.blocks.grid(self.extents)) * self.blocks.pitch
        if self.linear:
            shape = tiles.drop_unit_axes(self.shape)
            rows, columns = prod(shape[:-1]), shape[-1] if shape else 1
            return rows * tiles.row_pitch(columns) * self.width
        rows, columns = self.extents
        # Tiles are whole even at the edges of the matrix: unpackers read 1024 datums in any case.
        return tiles.tile_count(rows) * tiles.tile_count(columns) * tiles.tile_pitch(self.width)

    def decode(self, data: NDArray[np.uint8], dtype: type[np.generic]) -> Array:
        """Matrix of datums in these bytes of its tiles."""
        if self.blocks is not None:
            return tiles.untilize_blocks(data, self.extents, dtype, self.blocks)
        return tiles.untilize(data, self.extents, dtype, "columns")

    def flat(self, array: Array) -> Array:
        """Matricization: the array with its axes permuted and merged into rows and columns; a wrapped vector is
        zero-padded to whole rows.
        """
        made = array.transpose(*self.matrix.rows, *self.matrix.columns)
        if self.wrapped:
            made = np.pad(made.ravel(), (0, -made.size % tiles.SIDE))
        return made.reshape(self.extents)

    def unflat(self, matrix: Array) -> Array:
        """Inverse of `flat`: the array of a matrix, without its padding."""
        order = (*self.matrix.rows, *self.matrix.columns)
        back = matrix.ravel()[: prod(self.shape)].reshape([self.shape[n] for n in order])
        # `ascontiguousarray` makes an array of one dimension of a scalar.
        return np.ascontiguousarray(back.transpose(np.argsort(order) if order else ())).reshape(self.shape)


@dataclass(frozen=True, slots=True)
class Area:
    """An array in L1 and the axes it stands for: of each dimension of `placed.shape`, the array's own axis, or -1 where
    the array is broadcast.
    """

    placed: Placed
    axes: tuple[int, ...]
    held: Held

    @property
    def key(self) -> Key:
        # Areas that differ in nothing but the address hold the same bytes, so they can share one place.
        return replace(self.placed, address=0), self.axes, self.held


Key = tuple[Placed, tuple[int, ...], Held]


def element_format(how: Arithmetic) -> Elements:
    """Element format of the formulas that run beside products of this arithmetic."""
    return ELEMENTS[element_format_name(how.format)]


def datum_width(held: Held, how: Arithmetic) -> int:
    """Width of a datum in bytes, by the role of its array."""
    if held == "elements":
        return element_format(how).width
    return how.factors.width if held == "factor" else how.sums.width


def broadcast_input(array: Array, axes: tuple[int, ...], shape: tuple[int, ...]) -> Array:
    """Broadcast of an input to the result's shape; an axis of -1 is a dimension that the input lacks."""
    # The input's axes are brought into the order of the result's dimensions first; the missing ones then become axes of
    # length 1, which broadcasting repeats.
    own = [axis for axis in axes if axis >= 0]
    at = tuple(slice(None) if axis >= 0 else None for axis in axes)
    return np.broadcast_to(array.transpose(own)[at], shape)


def encode_operand(placed: Placed, inputs: Mapping[str, Array], f: Format) -> Array:
    """Operand of a product as a matrix of encoded datums. Errors: PL1234 for an integer beyond -127 .. 127."""
    return encode_factor(placed.matrix.array, f, placed.flat(inputs[placed.matrix.array]))


def encode_factor(name: str, f: Format, matrix: Array) -> Array:
    """Part of the operand `name` of a product as encoded datums. Errors: PL1234."""
    # Floats saturate quietly, as formats do; an integer that wraps or saturates would be a wrong result without a sign
    # of it.
    if f.name == "i8" and (beyond := np.argwhere(np.abs(matrix.astype(np.int64)) > _I8)).size:
        value = matrix[tuple(beyond[0])]
        message = f"`{name}` has the value {value}, which i8 does not hold"
        raise input_error("PL1234", message, help=f"give integers from -{_I8} to {_I8}, as a tile's sign and magnitude")
    return f.encode(matrix)
