# SPDX-License-Identifier: Apache-2.0
"""Arrays as the matrices of a contraction: in NumPy, and in memory, where one step leads from row to row and one from
column to column.

Several dimensions are one where the step of each is that of the next one times its extent.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from polyloom.analysis.contraction import Contraction, Matrix

Array = NDArray[Any]


def array_to_matrix(matrix: Matrix, array: Array) -> Array:
    """The array with all dimensions of rows as one, and all of columns."""
    order = (*matrix.rows, *matrix.columns)
    rows = int(np.prod([array.shape[n] for n in matrix.rows], dtype=np.int64))
    return array.transpose(order).reshape(rows, -1)


def matrix_to_array(matrix: Matrix, values: Array, shape: tuple[int, ...]) -> Array:
    """The inverse, for the shape of the array."""
    order = (*matrix.rows, *matrix.columns)
    back = values.reshape([shape[n] for n in order])
    return np.ascontiguousarray(back.transpose(np.argsort(order)))


@dataclass(frozen=True, slots=True)
class View:
    """Element (i, j) is at address + i row_step + j column_step, in bytes; a step of a single row or column is 0."""

    address: int
    rows: int
    columns: int
    row_step: int
    column_step: int
    bytes: int

    @property
    def has_unit_column_step(self) -> bool:
        """Whether columns are neighbours in memory."""
        return self.column_step == self.bytes or self.columns == 1

    @property
    def transpose(self) -> View:
        """The transposed matrix, at the same place."""
        return View(self.address, self.columns, self.rows, self.column_step, self.row_step, self.bytes)


def matrix_view(matrix: Matrix, address: int, shape: Sequence[int], steps: Sequence[int], bytes: int) -> View | None:
    """Of an array at an address, whose neighbours along each dimension are `steps` apart, in bytes; None where no two
    steps do."""
    row, column = (_common_step([(shape[n], steps[n]) for n in axes]) for axes in (matrix.rows, matrix.columns))
    if row is None or column is None:
        return None
    # A matrix without rows has one: it is a vector.
    rows, columns = (prod(shape[n] for n in axes) for axes in (matrix.rows, matrix.columns))
    return View(address, rows, columns, row, column, bytes)


def _common_step(axes: Sequence[tuple[int, int]]) -> int | None:
    """The step of dimensions, (extent, step) each, as one."""
    # A dimension of extent 1 is never stepped along, so that its step may be anything.
    real = [(extent, step) for extent, step in axes if extent != 1]
    for (_, outer), (extent, inner) in pairwise(real):
        if outer != extent * inner:
            return None
    return real[-1][1] if real else 0


def has_matrix_views(c: Contraction) -> bool:
    """Whether there are views of all matrices, whatever the sizes, in rows that are padded; and result and factors have
    both rows and columns."""
    # Rows may be padded at their ends: then the last dimension has to be alone on its side.
    return bool(c.result.rows and c.result.columns) and all(_has_view(m) for m in (c.left, c.right, c.result))


def _has_view(matrix: Matrix) -> bool:
    last = max((*matrix.rows, *matrix.columns))
    return all(_is_run(axes) and (last not in axes or len(axes) == 1) for axes in (matrix.rows, matrix.columns))


def _is_run(axes: Sequence[int]) -> bool:
    return list(axes) == list(range(axes[0], axes[0] + len(axes)))
