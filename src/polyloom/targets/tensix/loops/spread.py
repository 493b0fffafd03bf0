# SPDX-License-Identifier: Apache-2.0
"""Arrays of an element-wise program in L1: each as a matrix of tiles of the result's shape, one behind the other.

A result of one dimension is a matrix of rows of 32; of more than two, all but the last are rows. Inputs of fewer
dimensions are spread.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from polyloom.diagnostics import INFEASIBLE, Diagnostic, PolyloomError
from polyloom.targets.tensix.loops import tiles
from polyloom.targets.tensix.loops.layout import DATA, END
from polyloom.targets.tensix.loops.steps import Spread

Array = NDArray[Any]
_SCALARS: Final = 16
"""Bytes behind the programs for scalars."""


@dataclass(frozen=True, slots=True)
class Area:
    """Where everything lies: the scalars, the first input, and the result."""

    shape: tuple[int, ...]
    width: int
    inputs: int

    @property
    def extents(self) -> tuple[int, int]:
        """Of the matrix."""
        if len(self.shape) < 2:
            return -(-prod(self.shape) // tiles.SIDE), tiles.SIDE
        return prod(self.shape[:-1]), self.shape[-1]

    @property
    def tiles(self) -> int:
        rows, columns = self.extents
        return tiles.count(rows) * tiles.count(columns) if prod(self.shape) else 0

    @property
    def size(self) -> int:
        """Bytes of an array."""
        return self.tiles * tiles.pitch(self.width)

    @property
    def scalars(self) -> int:
        return DATA

    def address(self, number: int) -> int:
        """Of an input; of the result behind the last one."""
        return DATA + _SCALARS + number * self.size

    def check(self) -> None:
        """Errors: PL1233 (exit 3)."""
        end = self.address(self.inputs + 1)
        if end > END:
            message = f"the arrays need {end - DATA} bytes as tiles, and L1 has {END - DATA} for them"
            help = "give smaller sizes, or --format bf16, whose tiles are half as large"
            raise PolyloomError(Diagnostic("PL1233", message, INFEASIBLE, help=help))

    def matrix(self, array: Array) -> Array:
        """An array of the result's shape."""
        if len(self.shape) > 1:
            return array.reshape(self.extents)
        flat = array.ravel()
        return np.pad(flat, (0, -len(flat) % tiles.SIDE)).reshape(self.extents)

    def of_matrix(self, matrix: Array) -> Array:
        return np.ascontiguousarray(matrix).ravel()[: prod(self.shape)].reshape(self.shape)


def spread(array: Array, axes: tuple[int, ...], shape: tuple[int, ...]) -> Array:
    """An input in the result's shape."""
    own = [axis for axis in axes if axis >= 0]
    ordered = array.transpose(own)
    at = tuple(slice(None) if axis >= 0 else None for axis in axes)
    return np.broadcast_to(ordered[at], shape)


def spread_all(arrays: tuple[Spread, ...], inputs: Any, shape: tuple[int, ...]) -> list[Array]:
    return [spread(inputs[a.array], a.axes, shape) for a in arrays]
