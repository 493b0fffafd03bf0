# SPDX-License-Identifier: Apache-2.0
"""Arrays as matrices in memory: where an element is, if one step leads from row to row and one from column to column.

Several dimensions are one where the step of each is that of the next one times its extent.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import prod

from polyloom.analysis.contraction import Matrix
from polyloom.targets.minion.words.layout import Placed


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
    def is_plain(self) -> bool:
        """Whether columns are neighbours in memory."""
        return self.column_step == self.bytes or self.columns == 1

    @property
    def is_transposed(self) -> bool:
        """Whether rows are."""
        return self.row_step == self.bytes or self.rows == 1

    @property
    def flipped(self) -> View:
        """The transposed matrix, at the same place."""
        return View(self.address, self.columns, self.rows, self.column_step, self.row_step, self.bytes)


def view(matrix: Matrix, placed: Placed) -> View | None:
    """None where no two steps do."""
    steps, shape = placed.steps(), placed.shape
    row, column = (_joined([(shape[n], steps[n]) for n in axes]) for axes in (matrix.rows, matrix.columns))
    if row is None or column is None:
        return None
    rows, columns = (prod(shape[n] for n in axes) for axes in (matrix.rows, matrix.columns))
    return View(placed.address, rows, columns, row, column, placed.dtype.itemsize)


def _joined(axes: Sequence[tuple[int, int]]) -> int | None:
    """The step of dimensions, (extent, step) each, as one."""
    real = [(extent, step) for extent, step in axes if extent != 1]
    for (_, outer), (extent, inner) in pairwise(real):
        if outer != extent * inner:
            return None
    return real[-1][1] if real else 0
