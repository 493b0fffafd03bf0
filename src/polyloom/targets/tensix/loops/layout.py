# SPDX-License-Identifier: Apache-2.0
"""Where the arrays of a product lie in L1: behind the programs, tiles of the left factor along rows, of the right one
along columns, of the result along rows."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from polyloom.analysis.contraction import Matrix
from polyloom.diagnostics import INFEASIBLE, Diagnostic, PolyloomError
from polyloom.targets.tensix.loops import tiles
from polyloom.targets.tensix.loops.formats import Format, Result

Array = NDArray[Any]
CODE: Final = 0x6000
"""Where T0 starts after a reset; T1's and T2's programs follow."""
DATA: Final = 0x8000
END: Final = 0x170000


@dataclass(frozen=True, slots=True)
class Placed:
    """An array as a matrix of tiles at an address: its shape, and what `Matrix` says."""

    matrix: Matrix
    shape: tuple[int, ...]
    address: int
    width: int

    @property
    def extents(self) -> tuple[int, int]:
        """Rows and columns."""
        rows, columns = (prod(self.shape[n] for n in axes) for axes in (self.matrix.rows, self.matrix.columns))
        return rows, columns

    @property
    def size(self) -> int:
        """Bytes in L1."""
        rows, columns = self.extents
        return tiles.count(rows) * tiles.count(columns) * tiles.pitch(self.width)

    def flat(self, array: Array) -> Array:
        """The array as a matrix."""
        return array.transpose(*self.matrix.rows, *self.matrix.columns).reshape(self.extents)

    def unflat(self, matrix: Array) -> Array:
        """The inverse of `flat`."""
        order = (*self.matrix.rows, *self.matrix.columns)
        back = matrix.reshape([self.shape[n] for n in order])
        # `ascontiguousarray` makes an array of one dimension of a scalar.
        return np.ascontiguousarray(back.transpose(np.argsort(order) if order else ())).reshape(self.shape)


def place(matrices: tuple[Matrix, ...], shapes: tuple[tuple[int, ...], ...], f: Format, r: Result) -> list[Placed]:
    """Left, right and result. Errors: PL1233 (exit 3) where L1 is too small."""
    at, made = DATA, list[Placed]()
    for matrix, shape, width in zip(matrices, shapes, (f.width, f.width, r.width), strict=True):
        made.append(Placed(matrix, shape, at, width))
        at += made[-1].size
    if at > END:
        sizes = ", ".join(f"{p.matrix.array} {p.size}" for p in made)
        message = f"the arrays need {at - DATA} bytes as tiles, and L1 has {END - DATA} for them"
        help = "give smaller sizes, or --format bf16, whose tiles are half as large"
        raise PolyloomError(Diagnostic("PL1233", message, INFEASIBLE, notes=(f"bytes of each: {sizes}",), help=help))
    return made
