# SPDX-License-Identifier: Apache-2.0
"""Programs of a spread product, which are the same on every tile, and the table of each tile, which tells it who it is
and where its pieces are.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from polyloom.targets.tensix.map.loops.join import assemble_parts
from polyloom.targets.tensix.map.loops.thread import assemble_thread
from polyloom.targets.tensix.map.spread.channels import Piece, Pieces
from polyloom.targets.tensix.map.spread.movers import move_chunks, move_slices
from polyloom.targets.tensix.map.spread.shape import LEFT, RIGHT, Spread, split_packets
from polyloom.targets.tensix.map.spread.threads import spread_threads
from polyloom.targets.tensix.words.arrays.area import CODE
from polyloom.targets.tensix.words.chip import node, tile_places

_MASK: Final = 0xF
"""Bytes of a word that is written by immediate data."""
_TABLE_WORDS: Final = 16


def assemble_spread(s: Spread) -> tuple[bytes, dict[str, int]]:
    """Code of the five cores, and where each begins in it."""
    code, starts, _ = assemble_parts([spread_threads(s)], 0)
    for core, lines in (("b", move_chunks(s)), ("nc", move_slices(s))):
        starts[core] = len(code)
        code += assemble_thread([lines], CODE + len(code))[0]
    return code, starts


def tile_table(s: Spread, pieces: Pieces, row: int, column: int) -> list[int]:
    """Words of a tile's table, as `shape` lists them, and behind them addresses of its pieces."""
    places = tile_places(s.rows, s.columns)
    own = places[row * s.columns + column]
    first, last = places[row * s.columns], places[row * s.columns + s.columns - 1]
    # Rows of a grid are not in the order of the chip; NoC 1 counts from the other end, so that it begins below.
    below = places[column :: s.columns]
    top, bottom = min(below), max(below)
    start, end = s.slice_bounds(row)
    parts = [size for _, size in split_packets((end - start) * s.stream.factor_pitch)]
    words = [
        _coordinates(0, own), _coordinates(1, own), _rectangle(0, first, last), _rectangle(1, bottom, top),
        s.chunk_count(column), s.product.left + column * s.chunk, *_flag(s.stream.words + LEFT + 4 * column),
        len(parts), parts[0] if parts else 0, parts[-1] if parts else 0, start * s.stream.factor_pitch,
        *_flag(s.stream.words + RIGHT + 4 * row),
    ]  # fmt: skip
    # Addresses begin at a fixed place, which stands in the programs.
    words += [0] * (_TABLE_WORDS - len(words))
    for panel in range(s.panels):
        for k in range(column, s.product.depth, s.columns):
            words += _address(1, pieces.chunks[row, panel, k])
    for n in range(s.product.columns):
        words += _address(1, pieces.slices[row, column, n])
    for panel in range(s.panels):
        for n in range(s.product.columns):
            words += _address(0, pieces.results[row, column, panel, n])
    return words


def _coordinates(noc: int, place: int) -> int:
    x, y = node(noc, place)
    return x << 4 | y << 10


def _rectangle(noc: int, first: int, last: int) -> int:
    x, y = node(noc, first)
    return _coordinates(noc, last) | x << 16 | y << 22


def _flag(address: int) -> Iterator[int]:
    yield address
    yield _MASK << address % 16


def _address(noc: int, piece: Piece) -> Iterator[int]:
    """Low and high word (MemoryMap.md): by NoC 1 where it is read, by NoC 0 where it is written."""
    yield piece.seen
    yield _coordinates(noc, piece.place)
