# SPDX-License-Identifier: Apache-2.0
"""Runner of a product on a grid: pieces of the factors into DRAM, program and table into every tile, the result out of
DRAM, and what binds.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from polyloom.diagnostics import input_error
from polyloom.ir.stage_interpret import output_part
from polyloom.riscv import symbols
from polyloom.riscv.image import elf_image
from polyloom.targets.target import Execution, Json
from polyloom.targets.tensix.options import CORES
from polyloom.targets.tensix.run.account import count_tiles
from polyloom.targets.tensix.run.grid import Grid
from polyloom.targets.tensix.run.stages import Limits
from polyloom.targets.tensix.run.tile import UNITS, Outcome
from polyloom.targets.tensix.words.arrays import tiles
from polyloom.targets.tensix.words.arrays.area import encode_operand
from polyloom.targets.tensix.words.arrays.spread_note import SpreadNote
from polyloom.targets.tensix.words.chip import Memory
from polyloom.targets.tensix.words.program import CORE

Array = NDArray[Any]
_LINE: Final = 32


def run(data: bytes, note: SpreadNote, inputs: Mapping[str, Array], limits: Limits) -> Execution:
    """Run of a product on a grid. Errors: PL1220 to PL1222 of a tile, PL1234, PL1236."""
    grid, outcome = execute_spread(data, note, inputs, limits)
    if outcome.stop == "max-cycles":
        message = f"`{note.signature.name}` has not ended after {limits.max_cycles} cycles"
        raise input_error("PL1236", message, help=f"`--max-cycles {10 * limits.max_cycles}` lets it run longer")
    moved = sum(tile.native.moved for tile in grid.tiles)
    operations = sum(tile.native.unit(n)[0] for tile in grid.tiles for n in range(1, len(UNITS)))
    facts = _facts(grid, note, max(1, outcome.cycles))
    outputs = {note.output.array: read_result(grid, note)}
    counted = count_tiles(grid.tiles) if limits.account else None
    return Execution(outputs, outcome.cycles, operations, facts, detail=moved, counted=counted)


def execute_spread(data: bytes, note: SpreadNote, inputs: Mapping[str, Array], limits: Limits) -> tuple[Grid, Outcome]:
    """Execution of the five cores of every tile."""
    grid = open_grid(data, note, inputs, limits)
    return grid, grid.run(limits.max_cycles)


def open_grid(data: bytes, note: SpreadNote, inputs: Mapping[str, Array], limits: Limits) -> Grid:
    """Grid before its first cycle: the factors in DRAM, programs and tables in L1, all cores released."""
    size = max(at + size for (_, at), size in note.pieces())
    # The model has as much of a channel as the pieces reach, of up to 1 GiB.
    grid = Grid(*note.grid, limits.hazards, Memory(-(-size // _LINE) * _LINE))
    _write_factors(grid, note, inputs)
    segments = elf_image(data, CORE).segments
    starts = {symbol: address for address, symbol in symbols.read_tables(data).names.items()}
    for tile, words in zip(grid.tiles, note.tables, strict=True):
        tile.native.tracing, tile.native.accounting = limits.trace, limits.account
        for segment in segments:
            tile.l1[segment.address : segment.address + len(segment.data)] = np.frombuffer(segment.data, np.uint8)
        table = np.array(words, "<u4").view(np.uint8)
        tile.l1[note.table : note.table + len(table)] = table
        for core in CORES:
            tile.release(core, starts[core])
    return grid


def _write_factors(grid: Grid, note: SpreadNote, inputs: Mapping[str, Array]) -> None:
    """Chunks of panels and slices of columns, tilized, each where its tile looks for it."""
    how, pitch = note.how, note.factor_pitch
    rows, columns = note.panels * note.panel_rows * note.grid[0], note.columns * note.grid[1]
    left = _pad(encode_operand(note.left.placed, inputs, how.factors), rows, note.depth)
    right = _pad(encode_operand(note.right.placed, inputs, how.factors), note.depth, columns)
    # Panels go around the rows of the grid, columns of tiles lie side by side.
    height, chunk = note.panel_rows * tiles.SIDE, note.panel_rows * pitch
    for n in range(note.panels * note.grid[0]):
        data = tiles.tilize(left[n * height : (n + 1) * height], "columns")
        for k, (channel, at) in enumerate(note.chunk_pieces[n * note.depth : (n + 1) * note.depth]):
            grid.dram(channel)[at : at + chunk] = data[k * chunk : (k + 1) * chunk]
    for n in range(columns):
        data = tiles.tilize(right[:, n * tiles.SIDE : (n + 1) * tiles.SIDE], "columns")
        for row, (channel, at) in enumerate(note.slice_pieces[n * note.grid[0] : (n + 1) * note.grid[0]]):
            piece = data[note.slices[row] * pitch : note.slices[row + 1] * pitch]
            grid.dram(channel)[at : at + len(piece)] = piece


def _pad(datums: Array, rows: int, columns: int) -> Array:
    """Matrix of so many tiles, with zeros behind."""
    made = np.zeros((rows * tiles.SIDE, columns * tiles.SIDE), datums.dtype)
    made[: datums.shape[0], : datums.shape[1]] = datums
    return made


def read_result(grid: Grid, note: SpreadNote) -> Array:
    """Result of all blocks, as the array of the program."""
    packed, placed = note.how.sums, note.output.area.placed
    columns, height = note.columns * note.grid[1], note.panel_rows * tiles.SIDE
    dtype = np.uint32 if packed.width == 4 else np.uint16
    size = note.panel_rows * tiles.tile_pitch(packed.width)
    whole = np.zeros((note.panels * note.grid[0] * height, columns * tiles.SIDE), dtype)
    for n, (channel, at) in enumerate(note.result_pieces):
        panel, column = divmod(n, columns)
        block = tiles.untilize(grid.dram(channel)[at : at + size], (height, tiles.SIDE), dtype, "columns")
        whole[panel * height : (panel + 1) * height, column * tiles.SIDE : (column + 1) * tiles.SIDE] = block
    # What pads the last tiles of the grid is no part of the result.
    rows, wide = placed.extents
    found = note.signature.argument(note.output.array)
    assert found is not None, "the note was checked"
    made = output_part(placed.unflat(packed.decode(np.ascontiguousarray(whole[:rows, :wide]))), note.output.at)
    return made.reshape(found.extents({}))


def binding_shares(grid: Grid, cycles: int) -> dict[str, float]:
    """Shares of the cycles in which what may bind was busy: units on the average of the tiles, the busiest channel of
    DRAM and the busiest link.
    """
    # The average, as the last tile to end does not say what held back all of them.
    used = {name: float(np.mean(grid.utilization(name))) for name in ("matrix", "unpack0", "unpack1")}
    channels, links = grid.channels(), grid.links()
    return {
        "matrix unit": used["matrix"],
        "unpackers": max(used["unpack0"], used["unpack1"]),
        "DRAM": max(busy for _, _, busy in channels) / max(1, cycles),
        "NoC link": links[0].flits / max(1, cycles) if links else 0.0,
    }


def _facts(grid: Grid, note: SpreadNote, cycles: int) -> dict[str, Json]:
    utilization = {name: float(np.mean(grid.utilization(name))) for name in UNITS if name != "nop"}
    channels, shares = grid.channels(), binding_shares(grid, cycles)
    binds = max(shares, key=lambda name: shares[name])
    told = note.stage
    stage: dict[str, Json] = {
        "array": told.label, "what": told.what, "line": told.line, "tiles": list(told.tiles), "cycles": cycles,
        "unit": "matrix", "busy": round(utilization["matrix"], 4),
    }  # fmt: skip
    return {
        "format": note.how.format,
        "dest": note.how.dest,
        "fidelity": note.how.fidelity,
        "tiles": list(told.tiles),
        "stages": [stage],
        "instructions": sum(each[2] for tile in grid.tiles for each in tile.threads()),
        "utilization": {**utilization},
        "grid": list(note.grid),
        "binds": binds,
        "shares": {name: round(share, 4) for name, share in shares.items()},
        "dram_bytes": {"read": sum(c[0] for c in channels), "written": sum(c[1] for c in channels)},
    }
