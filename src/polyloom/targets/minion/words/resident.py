# SPDX-License-Identifier: Apache-2.0
"""Resident operands: packed factors and result of a product in the scratchpads of the shires that use them, before and
after the run.

A shire holds, for its rows of blocks, all tiles of the left factor along the depth, for its columns those of the right
one, and its blocks of the result, 16 lines each. Rows and columns that several shires share lie in each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import astuple, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from polyloom.analysis.contraction import Matrix
from polyloom.analysis.matrices import array_to_matrix, matrix_to_array
from polyloom.diagnostics import infeasible
from polyloom.ir.signature import Dtype
from polyloom.targets.minion.memory_map import LINE, SCRATCHPAD, scratchpad_address
from polyloom.targets.minion.words.tiles import ROWS, TILE, WORD, Grid, Tiles
from polyloom.targets.target import Json

Array = NDArray[Any]
# Shire 0x7F is the issuing shire (manual, "Memory map"), so that all shires run the same code.
_OWN = SCRATCHPAD + (0x7F << 23)


@dataclass(frozen=True, slots=True)
class Home:
    """Resident arrays of a program: which matrices of left, right and result they are."""

    resident: Resident
    matrices: tuple[Matrix, Matrix, Matrix]

    def laid(self, arrays: Mapping[str, Array]) -> list[tuple[int, bytes]]:
        """Bytes of the operands, by address."""
        left, right = (array_to_matrix(m, arrays[m.array]) for m in self.matrices[:2])
        return list(self.resident.laid(left, right))

    def taken(self, shape: tuple[int, ...], dtype: Dtype, read: Callable[[int, int], bytes]) -> Array:
        """The result, through a function that reads memory."""
        r = self.resident
        # Blocks are whole tiles; rows and columns beyond the result are cut off at the end.
        whole = np.zeros((-(-r.rows // ROWS) * ROWS, -(-r.columns // ROWS) * ROWS), dtype)
        for address, row, column in r.areas():
            block = np.frombuffer(read(address, TILE), dtype).reshape(ROWS, LINE // dtype.itemsize)[:, :ROWS]
            whole[row * ROWS : (row + 1) * ROWS, column * ROWS : (column + 1) * ROWS] = block
        return matrix_to_array(self.matrices[2], whole[: r.rows, : r.columns], shape)

    def as_json(self) -> dict[str, Json]:
        """JSON of the note (docs/formats.md, Executables)."""
        r = self.resident
        matrices: list[Json] = [[m.array, list[Json](m.rows), list[Json](m.columns)] for m in self.matrices]
        return {"product": [*astuple(r.grid)[:4], r.size, r.rows, r.columns, r.words], "matrices": matrices}


def home_from_json(made: Mapping[str, Any]) -> Home:
    """The inverse of `as_json`. Errors: ValueError, TypeError, KeyError for whatever does not fit."""
    rows, columns, shire_rows, shire_columns, *sizes = map(int, made["product"])
    size, height, width, words = sizes
    if min(rows, columns, shire_rows, shire_columns, height, width, words) < 1 or size not in (1, 2, 4):
        raise ValueError
    matrices = [Matrix(str(name), tuple(map(int, a)), tuple(map(int, b))) for name, a, b in made["matrices"]]
    left, right, result = matrices
    return Home(
        Resident(Grid(rows, columns, shire_rows, shire_columns), size, height, width, words), (left, right, result)
    )


@dataclass(frozen=True, slots=True)
class Resident:
    """Layout of a product's matrices: `size` bytes per element of an operand; rows, columns and words of depth of the
    product; who computes what.
    """

    grid: Grid
    size: int
    rows: int
    columns: int
    words: int

    @property
    def steps(self) -> int:
        return -(-self.words // ROWS)

    @property
    def local(self) -> tuple[int, int]:
        """Rows and columns of blocks of a shire."""
        g = self.grid
        blocks = -(-self.rows // ROWS), -(-self.columns // ROWS)
        return -(-blocks[0] // g.total_rows) * g.rows, -(-blocks[1] // g.total_columns) * g.columns

    @property
    def places(self) -> tuple[int, int, int, int]:
        """Offsets of left, right and result in each scratchpad, and the end."""
        rows, columns = self.local
        left, right = rows * self.steps * TILE, columns * self.steps * TILE
        return 0, left, left + right, left + right + rows * columns * TILE

    def tiles(self) -> tuple[Tiles, Tiles, Tiles]:
        """Address functions of left, right and result, for blocks counted in the shire."""
        left, right, result, _ = self.places
        row = self.steps * TILE
        return (
            Tiles(_OWN + left, row, TILE, LINE),
            Tiles(_OWN + right, row, TILE, LINE),
            Tiles(_OWN + result, self.local[1] * TILE, TILE, LINE),
        )

    def check(self, room: int) -> None:
        """Errors: PL1338 where a scratchpad is too small."""
        need = self.places[3]
        if need > room:
            message = f"--resident needs {need} bytes of each shire's scratchpad, which has {room}"
            help = "give smaller sizes, more minions, or a machine file with a larger scratchpad_kib; or leave it out"
            raise infeasible("PL1338", message, help=help)

    def laid(self, left: Array, right: Array) -> Iterator[tuple[int, bytes]]:
        """Bytes of the operand matrices, by address."""
        a, b = self._lhs_tiles(left), self._rhs_tiles(right)
        for shire, rows, columns in self._shire_blocks():
            for at, tiles, blocks in ((self.places[0], a, rows), (self.places[1], b, columns)):
                for n, block in enumerate(blocks):
                    if block < len(tiles):
                        yield scratchpad_address(shire, at + n * self.steps * TILE), tiles[block].tobytes()

    def areas(self) -> Iterator[tuple[int, int, int]]:
        """Areas of the result: address, row and column of each block."""
        for shire, rows, columns in self._shire_blocks():
            for i, row in enumerate(rows):
                for j, column in enumerate(columns):
                    if row * ROWS < self.rows and column * ROWS < self.columns:
                        yield scratchpad_address(shire, self.places[2] + (i * len(columns) + j) * TILE), row, column

    def _shire_blocks(self) -> Iterator[tuple[int, list[int], list[int]]]:
        """Blocks of each shire: its number, and which rows and columns of blocks are there."""
        g, (rows, columns) = self.grid, self.local
        for shire in range(g.shire_rows * g.shire_columns):
            # Shires lie in the grid row by row. Within a round, a shire's minions take neighbouring blocks; the next
            # round is a whole grid further.
            row, column = divmod(shire, g.shire_columns)
            yield (
                shire,
                [n // g.rows * g.total_rows + row * g.rows + n % g.rows for n in range(rows)],
                [n // g.columns * g.total_columns + column * g.columns + n % g.columns for n in range(columns)],
            )

    def _lhs_tiles(self, matrix: Array) -> Array:
        """Tiles of the left factor, [block, step, row, byte]: 16 rows of 64 bytes (manual, chapter 9)."""
        each, depth = WORD // self.size, self.steps * ROWS
        wide = _zero_pad(matrix, -(-self.rows // ROWS) * ROWS, depth * each)
        blocks = wide.reshape(-1, ROWS, self.steps, ROWS * each).transpose(0, 2, 1, 3)
        return np.ascontiguousarray(blocks)

    def _rhs_tiles(self, matrix: Array) -> Array:
        """Tiles of the right factor, [block, step, word, column, element of the word]: elements of one word of depth
        lie together, as tensor_fma reads them (manual, chapter 9), so that no interleaving load is needed.
        """
        each, depth = WORD // self.size, self.steps * ROWS
        wide = _zero_pad(matrix, depth * each, -(-self.columns // ROWS) * ROWS)
        blocks = wide.reshape(self.steps, ROWS, each, -1, ROWS).transpose(3, 0, 1, 4, 2)
        return np.ascontiguousarray(blocks)


def _zero_pad(matrix: Array, rows: int, columns: int) -> Array:
    return np.pad(matrix, ((0, rows - matrix.shape[0]), (0, columns - matrix.shape[1])))
