# SPDX-License-Identifier: Apache-2.0
"""Streamed products: factors and result in DRAM, blocks in L1; results, and what keeps the matrix unit busy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from polyloom.targets.tensix import python as tensix
from polyloom.targets.tensix.map.loops.join import assemble_parts
from polyloom.targets.tensix.map.loops.shape import Product
from polyloom.targets.tensix.map.loops.stream import Stream, place_stream, stream_threads
from polyloom.targets.tensix.map.loops.stream_movers import move_panels, read_columns
from polyloom.targets.tensix.map.loops.thread import assemble_thread
from polyloom.targets.tensix.words.arrays import tiles
from polyloom.targets.tensix.words.arrays.area import CODE, DATA, END
from polyloom.targets.tensix.words.arrays.formats import FORMATS, dst_result_format


def bf16_product(rows: int, columns: int, depth: int, fidelity: int = 4) -> Product:
    """A product of tiles in bf16 that is summed and stored in FP32."""
    return Product(rows, columns, depth, 0, 0, 0, FORMATS["bf16"], dst_result_format("bf16", 32), 32, fidelity)


def run_stream(s: Stream, a: NDArray[Any], b: NDArray[Any]) -> tuple[tensix.Tile, int, NDArray[Any]]:
    p, block = s.product, s.panel_rows * tiles.SIDE
    tile = tensix.Tile(port=tensix.DramPort(1 << 26))

    def put(at: int, data: NDArray[Any]) -> None:
        tile.dram[at : at + len(data)] = data

    encode = p.format.encode
    for n in range(p.rows // s.panel_rows):
        put(
            s.left + n * s.panel_tiles * s.factor_pitch, tiles.tilize(encode(a[n * block : (n + 1) * block]), "columns")
        )
    for n in range(p.columns):
        column = encode(b[:, n * tiles.SIDE : (n + 1) * tiles.SIDE])
        put(s.right + n * s.column_tiles * s.factor_pitch, tiles.tilize(column, "columns"))
    code, starts, _ = assemble_parts([stream_threads(s)], 0)
    for core, lines in (("b", move_panels(s)), ("nc", read_columns(s))):
        starts[core] = len(code)
        code += assemble_thread([lines], CODE + len(code))[0]
    assert CODE + len(code) <= DATA
    tile.l1[CODE : CODE + len(code)] = np.frombuffer(code, np.uint8)
    for core, at in starts.items():
        tile.release(core, CODE + at)
    cycles = tile.run(2_000_000).cycles
    found = np.zeros((p.rows * 32, p.columns * 32), np.float32)
    pitch = tiles.tile_pitch(4)
    for n in range(s.columns):
        panel, column = divmod(n, p.columns)
        for row in range(s.panel_rows):
            at = s.result + n * s.block_bytes + row * pitch + tiles.HEADER
            faces = tile.dram[at : at + 4096].view(np.float32).reshape(2, 2, 16, 16)
            i, j = (panel * s.panel_rows + row) * 32, column * 32
            found[i : i + 32, j : j + 32] = faces.transpose(0, 2, 1, 3).reshape(32, 32)
    return tile, cycles, found


def random_factors(p: Product) -> tuple[NDArray[Any], NDArray[Any]]:
    """Small integers, whose products and sums are exact at fidelity 2."""
    r = np.random.default_rng(33)
    shapes = ((p.rows, p.depth), (p.depth, p.columns))
    left, right = (r.integers(-8, 9, (32 * n, 32 * m)).astype(np.float32) for n, m in shapes)
    return left, right


@pytest.mark.parametrize(
    ("rows", "columns", "depth", "room"),
    [(1, 1, 1, END), (2, 3, 3, END), (8, 2, 5, END), (16, 3, 4, END), (17, 2, 3, END), (3, 5, 4, DATA + 60_000)],
)
def test_streamed_products_are_right(rows: int, columns: int, depth: int, room: int) -> None:
    s = place_stream(bf16_product(rows, columns, depth, 2), DATA, room)
    assert s is not None and s.panels == (2 if room == END else 1)
    a, b = random_factors(s.product)
    assert np.array_equal(run_stream(s, a, b)[2], a @ b)


def test_panels_are_as_high_as_fits() -> None:
    """Columns of 17 tiles would leave most of a third panel of eight empty; long sums leave room for less."""
    placed = [place_stream(bf16_product(rows, 16, depth), DATA, END) for rows, depth in ((17, 16), (64, 64), (64, 200))]
    assert [(s.panel_rows, s.product.rows) for s in placed if s is not None] == [(3, 18), (4, 64), (1, 64)]


def test_a_panel_that_does_not_fit_is_not_placed() -> None:
    assert place_stream(bf16_product(8, 1, 240), DATA, END) is None


def test_512_cubed_keeps_the_matrix_unit_busy() -> None:
    """Three arrays of 2.1 MB behind a tile with 1.4 MB."""
    s = place_stream(bf16_product(16, 16, 16), DATA, END)
    assert s is not None
    a, b = random_factors(s.product)
    tile, cycles, found = run_stream(s, a, b)
    assert np.array_equal(found, a @ b)
    assert tile.utilization()["matrix"] >= 0.9, (cycles, tile.utilization(), tile.native.traffic())
