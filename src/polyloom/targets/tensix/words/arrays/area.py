# SPDX-License-Identifier: Apache-2.0
"""Arrays in L1: as which matrix of tiles, of which datums, at which address."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import prod
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from polyloom.analysis.contraction import Matrix
from polyloom.diagnostics import input_error
from polyloom.targets.tensix.words.arrays import tiles
from polyloom.targets.tensix.words.arrays.elements import ELEMENTS, Elements, elements_of
from polyloom.targets.tensix.words.arrays.formats import Arithmetic, Format

Array = NDArray[Any]
_I8: Final = 127
CODE: Final = 0x6000
"""Where T0 starts after a reset; T1's and T2's programs follow."""
DATA: Final = 0x8000
END: Final = 0x170000
MEETING: Final = 16
"""Bytes of the words by which cores meet."""
Held = Literal["factor", "sum", "elements"]
"""As what an array lies in L1: as a factor of products, as their result, or as elements."""


@dataclass(frozen=True, slots=True)
class Placed:
    """An array as a matrix of tiles at an address: its shape, and what `Matrix` says. `wrapped`: the matrix is as many
    rows of a tile's side as the elements of a vector fill."""

    matrix: Matrix
    shape: tuple[int, ...]
    address: int
    width: int
    wrapped: bool = False

    @property
    def extents(self) -> tuple[int, int]:
        """Rows and columns."""
        if self.wrapped:
            return -(-prod(self.shape) // tiles.SIDE), tiles.SIDE
        rows, columns = (prod(self.shape[n] for n in axes) for axes in (self.matrix.rows, self.matrix.columns))
        return rows, columns

    @property
    def size(self) -> int:
        """Bytes in L1."""
        rows, columns = self.extents
        return tiles.count(rows) * tiles.count(columns) * tiles.pitch(self.width)

    def flat(self, array: Array) -> Array:
        """The array as a matrix."""
        made = array.transpose(*self.matrix.rows, *self.matrix.columns)
        if self.wrapped:
            made = np.pad(made.ravel(), (0, -made.size % tiles.SIDE))
        return made.reshape(self.extents)

    def unflat(self, matrix: Array) -> Array:
        """The inverse of `flat`."""
        order = (*self.matrix.rows, *self.matrix.columns)
        back = matrix.ravel()[: prod(self.shape)].reshape([self.shape[n] for n in order])
        # `ascontiguousarray` makes an array of one dimension of a scalar.
        return np.ascontiguousarray(back.transpose(np.argsort(order) if order else ())).reshape(self.shape)


@dataclass(frozen=True, slots=True)
class Area:
    """An array in L1: of each dimension of `placed.shape`, which one of the array's own it is, or -1."""

    placed: Placed
    axes: tuple[int, ...]
    held: Held

    @property
    def key(self) -> Key:
        return replace(self.placed, address=0), self.axes, self.held


Key = tuple[Placed, tuple[int, ...], Held]


def element_format(how: Arithmetic) -> Elements:
    """What formulas work in beside products of this arithmetic."""
    return ELEMENTS[elements_of(how.format)]


def width(held: Held, how: Arithmetic) -> int:
    """Bytes of a datum."""
    if held == "elements":
        return element_format(how).width
    return how.factors.width if held == "factor" else how.sums.width


def spread(array: Array, axes: tuple[int, ...], shape: tuple[int, ...]) -> Array:
    """An input in the result's shape."""
    own = [axis for axis in axes if axis >= 0]
    at = tuple(slice(None) if axis >= 0 else None for axis in axes)
    return np.broadcast_to(array.transpose(own)[at], shape)


def datums(placed: Placed, inputs: Mapping[str, Array], f: Format) -> Array:
    """An operand as a matrix of datums. Errors: PL1234."""
    matrix = placed.flat(inputs[placed.matrix.array])
    if f.name == "i8" and (beyond := np.argwhere(np.abs(matrix.astype(np.int64)) > _I8)).size:
        value = matrix[tuple(beyond[0])]
        message = f"`{placed.matrix.array}` has the value {value}, which i8 does not hold"
        raise input_error("PL1234", message, help=f"give integers from -{_I8} to {_I8}, as a tile's sign and magnitude")
    return f.encode(matrix)
